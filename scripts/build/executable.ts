import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { LOADED_BUNDLES } from './bundle.ts';
import { DIST, NODE, ROOT } from './paths.ts';

/** Where node looks for the script it carries (src/node_sea.cc); the fuse is a string in its text that postject flips. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes dist/stallcap: node itself without symbols, the entry as its script, the other bundles and caches as assets. */
export function makeExecutable(): void {
  const blob = `${DIST}/stallcap.blob`;
  const config = `${DIST}/stallcap.json`;
  const unfinished = `${DIST}/stallcap.unfinished`;
  const copy = `${DIST}/stallcap.copy`;
  try {
    writeFileSync(config, JSON.stringify(seaConfig(blob)));
    tool(NODE, '--experimental-sea-config', config);
    copyFileSync(NODE, unfinished);
    strip(unfinished);
    tool(NODE, `${ROOT}node_modules/postject/dist/cli.js`, unfinished, RESOURCE, blob, '--sentinel-fuse', FUSE);
    // Written at one go, the file lies in the page cache in large folios, and a process that maps it seems 20 MB larger
    // than on a node, where the file came through a network.
    copyFileSync(unfinished, copy);
    chmodSync(copy, 0o755);
    renameSync(copy, `${DIST}/stallcap`);
  } finally {
    for (const path of [blob, config, unfinished, copy]) rmSync(path, { force: true });
  }
}

function seaConfig(output: string) {
  const files = LOADED_BUNDLES.flatMap(name => [`${name}.cjs`, `${name}.cache`]);
  return {
    main: `${DIST}/entry.cjs`,
    output,
    disableExperimentalSEAWarning: true,
    // Of the entry itself: 4 ms sooner at the first look.
    useCodeCache: true,
    // NODE_OPTIONS of whoever calls must not reach in: it could set a V8 flag, or preload a file of the stalled disk.
    execArgvExtension: 'none',
    // Of each of a run's processes some 4 MB less, and no more CPU: little of what is allocated lives on, and one thread
    // beside the main one is enough to compile and collect for it.
    execArgv: ['--max-semi-space-size=1', '--v8-pool-size=1'],
    assets: Object.fromEntries(files.map(file => [file, `${DIST}/${file}`])),
  };
}

/** An eighth of node is symbols: a start does not read them, but whoever puts the file on a node has to carry them. */
function strip(path: string): void {
  if (spawnSync('strip', [path]).status !== 0)
    console.error('build: without strip (binutils) the executable is larger');
}

/** Runs a tool of the build and shows what it says only when it fails: postject warns of every note of node's ELF. */
function tool(program: string, ...args: string[]): void {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw new Error(`the build needs ${program}: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}
