import manifest from '../package.json' with { type: 'json' };

/** Version of stallcap, as in package.json. */
export const VERSION: string = manifest.version;
/** One sentence: what it is for. */
export const DESCRIPTION: string = manifest.description;
