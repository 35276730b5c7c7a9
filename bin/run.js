#!/usr/bin/env node
// Plain JavaScript without a static import: it must parse on the Node.js that it refuses (10 and later).
var needed = [22, 13];
var present = process.versions.node.split('.').map(Number);

if (present[0] < needed[0] || (present[0] === needed[0] && present[1] < needed[1])) {
  console.error(
    'stallcap needs Node.js ' +
      needed.join('.') +
      ' or newer, and this is ' +
      process.versions.node +
      '; the single executable dist/stallcap needs no Node.js.',
  );
  process.exit(1);
}

import('../dist/entry.cjs').catch(error => {
  var notBuilt = error && error.code === 'ERR_MODULE_NOT_FOUND';
  console.error(notBuilt ? 'stallcap is not built yet: run `npm run build` in its folder.' : error);
  process.exit(1);
});
