import { type DummyRuleMap, defineConfig } from 'oxlint';

/**
 * Who may import whom: imports point down only (ARCHITECTURE.md says why). `types` may be imported as types only: the
 * machine reaches everything above src/host as a Host that is handed over.
 */
interface Layer {
  readonly folder: string;
  readonly from: readonly string[];
  readonly types?: readonly string[];
}

const LAYERS: readonly Layer[] = [
  { folder: 'formats', from: [], types: ['host'] },
  { folder: 'host', from: ['formats'] },
  { folder: 'bundle', from: ['formats'], types: ['host', 'sandbox', 'collectors'] },
  { folder: 'sandbox', from: ['formats', 'bundle'], types: ['host'] },
  { folder: 'collectors', from: ['formats', 'bundle', 'sandbox'], types: ['host'] },
  { folder: 'diagnosis', from: ['formats', 'bundle'], types: ['sandbox'] },
  { folder: 'report', from: ['formats', 'bundle', 'diagnosis'], types: ['sandbox'] },
  { folder: 'capture', from: ['formats', 'bundle', 'sandbox', 'collectors', 'diagnosis', 'report'], types: ['host'] },
  {
    folder: 'cli',
    from: ['formats', 'bundle', 'sandbox', 'collectors', 'diagnosis', 'report', 'capture'],
    types: ['host'],
  },
];

const FOLDERS = [...LAYERS.map(({ folder }) => folder), 'commands', 'bin', 'scripts', 'test', 'bench'];

/** What the machine is touched with. */
const MACHINE = ['fs', 'fs/promises', 'child_process', 'worker_threads', 'cluster', 'net', 'http', 'http2'].flatMap(
  name => [name, `node:${name}`],
);
const MACHINE_PACKAGES = ['execa', 'pidusage', '@grpc/grpc-js'];

function directions({ folder, from, types = [] }: Layer): DummyRuleMap {
  const closed = FOLDERS.filter(other => other !== folder && !from.includes(other));
  const patterns = closed.map(other => ({
    regex: `^\\.{1,2}/(?:.*/)?${other}/`,
    allowTypeImports: types.includes(other),
    message: `${folder}/ must not import ${types.includes(other) ? 'more than types from ' : ''}${other}/: imports point down only.`,
  }));
  const paths = [...MACHINE, ...MACHINE_PACKAGES].map(name => ({
    name,
    message: `Only src/host touches the machine; ${folder}/ is given a Host.`,
  }));
  return { 'eslint/no-restricted-imports': ['error', { patterns, paths: folder === 'host' ? [] : paths }] };
}

const EXIT = {
  object: 'process',
  property: 'exit',
  message: 'process.exit stands in bin/ only: resolve to an exit code.',
};
const MACHINE_PROPERTIES = [
  { object: 'process', property: 'kill', message: 'Signals are sent by src/host only.' },
  { object: 'process', property: 'getBuiltinModule', message: 'This would go around the rule about imports.' },
];

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error' },
  rules: {
    // Types as well: two files that need each other's types are one file, or their types are a third.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-self-import': 'error',
    // Used here to keep short members of a record on one line.
    'unicorn/no-useless-spread': 'off',
    // tsc says it, with better eyes.
    'eslint/no-unused-vars': 'off',
    // A collector that has nothing to bring for this target is a generator all the same.
    'eslint/require-yield': 'off',
    // What formats/ reads is full of them.
    'eslint/no-control-regex': 'off',
    'eslint/no-restricted-properties': ['error', EXIT],
  },
  overrides: [
    ...LAYERS.map(layer => ({
      files: [`src/${layer.folder}/**`],
      rules: directions(layer),
    })),
    { files: ['src/*.ts'], rules: directions({ folder: 'errors', from: [] }) },
    {
      files: ['commands/**'],
      rules: directions({ folder: 'commands', from: LAYERS.map(layer => layer.folder) }),
    },
    {
      files: ['src/**', 'commands/**'],
      excludeFiles: ['src/host/**'],
      rules: { 'eslint/no-restricted-properties': ['error', EXIT, ...MACHINE_PROPERTIES] },
    },
    { files: ['bin/**', 'scripts/**', 'bench/**', 'test/**'], rules: { 'eslint/no-restricted-properties': 'off' } },
  ],
  ignorePatterns: ['dist', 'test/fixtures'],
});
