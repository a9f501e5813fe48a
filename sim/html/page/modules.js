// Vega's files are UMD modules, each a function of the table below; nothing is loaded from elsewhere.
'use strict';
const weftModules = {};
const vega = (() => {
  const loaded = {};
  const require = (name) => {
    if (!(name in loaded)) {
      if (!(name in weftModules)) throw new Error(`no module ${name} in this file`);
      loaded[name] = {};
      weftModules[name]({exports: loaded[name]}, loaded[name], require);
    }
    return loaded[name];
  };
  return {
    // Called once weftModules is complete.
    load() {
      Object.assign(require('vega-dataflow').transforms, require('vega-transforms'),
                    require('vega-view-transforms'), require('vega-encode'));
      return {parse: require('vega-parser').parse, View: require('vega-view').View};
    },
  };
})();
