/** Whether a name (of a flag, a variable, a key in JSON or YAML) is that of a secret. */

export type NamedKind = 'password' | 'secret' | 'token' | 'key';

/** The words that make a name suspicious. */
export const NAME_WORD = /pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|key/iy;

/** Which keys are secret: `apiKey`, `AWS_SECRET_ACCESS_KEY`; a cacheKey, a publicKey, a key are not. */
const SECRET_KEYS =
  /(?:api|access|private|secret|encryption|encrypt|decryption|signing|sign|master|shared|account|storage|session|ssh|client|license|consumer|deploy|service|auth|aes|rsa|hmac|jwt|psk|admin|root|app)[-_.]?$/i;

/** Words behind it that say: not the secret, something about it. `TOKEN_FILE`, `secretName`, `passwordPolicy`, `token_ttl`. */
const ABOUT_IT = new Set(
  (
    'file files filename path paths dir directory name names namespace ref refs reference type kind class ttl expiry ' +
    'expire expires expiration expired seconds minutes days time at age count counts len length size limit max min num ' +
    'number id ids uid url uri endpoint host server provider providers policy policies required require enabled enable ' +
    'disabled disable stdin prompt hint reset changed version rotation rotate timeout issuer audience review reviews ' +
    'reviewer webhook cache mode field selector store manager mount mounts volume volumes source ring helper spec status ' +
    'controller informer lister watcher authentication auth authenticator request requests response error errors func ' +
    'function algorithm format prefix suffix pattern regex template usage bucket index exists valid invalid missing ok ' +
    'success failed failure public encryption arn label labels annotation annotations config'
  ).split(' '),
);

/**
 * @param before what stands in the name before the word: 'DB_' of DB_PASSWORD
 * @param word as NAME_WORD matched it
 * @param after what stands behind: '_FILE' of PASSWORD_FILE
 */
export function kindOfName(before: string, word: string, after: string): NamedKind | null {
  if (!standsAlone(after) || wordsOf(after).some(part => ABOUT_IT.has(part))) return null;
  const lower = word.toLowerCase();
  if (lower === 'key') return SECRET_KEYS.test(before) ? 'key' : null;
  if (lower === 'pass') return startsWord(before, word) ? 'password' : null;
  // The shell's PWD and OLDPWD are directories.
  if (lower === 'pwd') return startsWord(before, word) && !/^(?:OLD)?PWD$/.test(before + word) ? 'password' : null;
  if (lower.startsWith('pass')) return 'password';
  return lower === 'token' ? 'token' : 'secret';
}

/** bypass and compass are no pass, dbPass and DB_PASS are one. */
function startsWord(before: string, word: string): boolean {
  const last = before.at(-1) ?? '';
  return !/[A-Za-z]/.test(last) || (/[a-z]/.test(last) && /^[A-Z][a-z]/.test(word));
}

/** Behind the word the name ends, or a new word begins: tokenizer and passed are other words. */
function standsAlone(after: string): boolean {
  return /^(?:s|S)?\d{0,4}(?:$|[-_.]|[A-Z][a-z])/.test(after);
}

function wordsOf(after: string): string[] {
  return after
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_.]+/);
}
