import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { DIST, ROOT } from './paths.ts';

/** What a probe imports for some requests alone, and most probes never want. */
const PROBE_BUNDLES = {
  /** execa and pidusage. */
  commands: 'src/host/probe/commands.ts',
  /** Clients of daemons' sockets. */
  sockets: 'src/host/probe/sockets.ts',
  /** grpc. */
  cri: 'src/host/probe/cri.ts',
} as const;

/** What the program imports for a few uses, and no other start has to wait for. */
const PROGRAM_BUNDLES = {
  /** `report --format html`: charts, 8 % of the program, 2.4 ms and 0.9 MB of a start. */
  page: 'src/report/html/page.ts',
  /** `--attach` of events in YAML: yaml, 160 kB. */
  yaml: 'src/formats/kubernetes/yaml-events.ts',
} as const;

type LaterBundle = keyof typeof PROBE_BUNDLES | keyof typeof PROGRAM_BUNDLES;

const laterBundles = Object.entries({ ...PROBE_BUNDLES, ...PROGRAM_BUNDLES }) as [LaterBundle, string][];

/** Bundles that are loaded when they are needed; see bin/load-bundle.ts. */
export const LOADED_BUNDLES: readonly ('program' | LaterBundle)[] = ['program', ...laterBundles.map(([name]) => name)];

const COMMON = {
  bundle: true,
  absWorkingDir: ROOT,
  platform: 'node',
  format: 'cjs',
  target: 'node22.13',
  // vm.Script has no `import()`; and one file is one read.
  supported: { 'dynamic-import': false },
  // import.meta.url: only sources look beside themselves.
  define: { STALLCAP_BUNDLED: 'true', 'import.meta.url': '""' },
  // Less to read and hash at start; names stay, for stacks that somebody has to understand.
  minifySyntax: true,
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Writes dist/entry.cjs, which is all that is compiled before the first look, and the bundles that it loads later. */
export async function bundleAll(): Promise<void> {
  await Promise.all([
    build({
      ...COMMON,
      entryPoints: ['bin/main.ts'],
      outfile: `${DIST}/entry.cjs`,
      plugins: [later],
    }),
    build({ ...COMMON, entryPoints: ['bin/program.ts'], outfile: `${DIST}/program.cjs`, plugins: [neverWsl, later] }),
    ...laterBundles.map(([name, file]) =>
      build({ ...COMMON, entryPoints: [file], outfile: `${DIST}/${name}.cjs`, plugins: [withoutProtoLoader] }),
    ),
  ]);
  for (const name of LOADED_BUNDLES) await wrap(`${DIST}/${name}.cjs`);
}

/** An `import()` of one of these bundles becomes a load of it. */
const later: Plugin = {
  name: 'later',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return null;
      const meant = laterBundles.find(([, file]) => join(resolveDir, path) === join(ROOT, file));
      return meant === undefined ? null : { path: meant[0], namespace: 'later' };
    });
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: `module.exports = require('./bin/load-bundle.ts').loadBundle('${path}')`,
      resolveDir: ROOT,
    }));
  },
};

/** As Node wraps a CommonJS module. */
async function wrap(path: string): Promise<void> {
  const source = await readFile(path, 'latin1');
  await writeFile(path, `(function(exports,require,module,__filename,__dirname){${source}\n})`, 'latin1');
}

/** oclif asks at every start whether this is Windows' Linux, which reads files and probes for containers. It never is. */
const neverWsl: Plugin = {
  name: 'never-wsl',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^wsl-utils$/ }, () => ({ path: 'wsl-utils', namespace: 'never-wsl' }));
    onLoad({ filter: /./, namespace: 'never-wsl' }, () => ({ contents: 'export const isWsl = false;' }));
  },
};

/**
 * grpc loads .proto files of its own for channelz and ORCA, which are not used here; a third of its size. What needs it
 * fails as it would where the package is missing.
 */
const withoutProtoLoader: Plugin = {
  name: 'without-proto-loader',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ path }) => ({ path, namespace: 'without-proto-loader' }));
    onLoad({ filter: /./, namespace: 'without-proto-loader' }, () => ({
      contents: "throw new Error('@grpc/proto-loader is not in this bundle')",
    }));
  },
};
