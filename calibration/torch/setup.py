"""Builds the harness's fused kernels and their operators into weft_fused/_kernels.so.

The kernels are compiled by nvcc or hipcc, without PyTorch's headers, the operators by the host's
compiler: a third of the time of a build of all in one, and no translation of sources for ROCm.

    TORCH_CUDA_ARCH_LIST / PYTORCH_ROCM_ARCH   what to build for (default: the GPU that is there)
"""
import os
import shutil
import subprocess

import torch
from setuptools import setup
from torch.utils import cpp_extension

HERE = os.path.dirname(os.path.abspath(__file__))
HARNESS = os.path.dirname(HERE)
KERNELS = ("launch_embedding", "launch_gemm", "launch_gemv")


def architectures(variable):
    said = os.environ.get(variable, "").replace(";", " ").replace(",", " ").split()
    return [a.split("+")[0] for a in said]


def cuda_command():
    home = cpp_extension.CUDA_HOME or "/usr/local/cuda"
    named = [a.replace(".", "") for a in architectures("TORCH_CUDA_ARCH_LIST")]
    if not named and torch.cuda.is_available():
        named = ["%d%d" % torch.cuda.get_device_capability()]
    named = named or ["90"]
    hopper = all(a in ("90", "90a") for a in named)   # then with wgmma, which sm_90a alone has
    flags = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in (["90a"] if hopper else named)]
    flags += ["-DCALIBRATION_WGMMA"] if hopper else []
    nvcc = shutil.which("nvcc") or os.path.join(home, "bin", "nvcc")
    return ([nvcc, "-x", "cu", *flags, "-Xcompiler", "-fPIC",
             "-I", os.path.join(HARNESS, "nvidia")],
            [os.path.join(home, "lib64"), os.path.join(home, "lib")], ["cudart"])


def rocm_command():
    home = cpp_extension.ROCM_HOME or "/opt/rocm"
    named = architectures("PYTORCH_ROCM_ARCH")
    if not named and torch.cuda.is_available():
        named = [torch.cuda.get_device_properties(0).gcnArchName.split(":")[0]]
    flags = [f"--offload-arch={a}" for a in named or ["gfx90a"]]
    return ([os.path.join(home, "bin", "hipcc"), "-x", "hip", *flags, "-fPIC",
             "-D__HIP_PLATFORM_AMD__"], [os.path.join(home, "lib")], ["amdhip64"])


class Build(cpp_extension.BuildExtension):
    def build_extensions(self):
        command, folders, libraries = rocm_command() if torch.version.hip else cuda_command()
        os.makedirs(self.build_temp, exist_ok=True)
        objects = [os.path.join(self.build_temp, f"{name}.o") for name in KERNELS]
        started = [subprocess.Popen([*command, "-std=c++20", "-O3",
                                     "-I", os.path.join(HARNESS, "src"),
                                     "-I", os.path.join(HERE, "csrc"), "-o", to,
                                     "-c", os.path.join(HERE, "csrc", f"{name}.cc")])
                   for name, to in zip(KERNELS, objects)]
        if any([process.wait() for process in started]):  # all of them, also after a failure
            raise RuntimeError("a kernel could not be compiled")
        for extension in self.extensions:
            extension.extra_objects += objects
            extension.library_dirs += [f for f in folders if os.path.isdir(f)]
            extension.libraries += libraries
        super().build_extensions()


setup(
    ext_modules=[cpp_extension.CppExtension(
        "weft_fused._kernels", [os.path.join("csrc", "operators.cpp")],
        include_dirs=[os.path.join(HERE, "csrc")])],
    cmdclass={"build_ext": Build.with_options(no_python_abi_suffix=True)},
)
