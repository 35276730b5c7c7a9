import { type Detector, NOTHING } from './span.ts';

/** RFC 7468 and OpenSSH's and PGP's own: the label has `PRIVATE KEY` in it. Certificates and public keys are left. */
const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/iy;
/** A key of 16,384 bits has 12,500 characters, with line ends written as `\\n`. */
const LONGEST_KEY = 15 * 1024;

/** What stands between the lines BEGIN and END, or between BEGIN and where the key was cut off. */
export const privateKey: Detector = {
  triggers: ['beg'],
  offset: 5,
  head: BEGIN,
  find(text, _at, end) {
    const rest = text.slice(end, end + LONGEST_KEY);
    const dashes = rest.indexOf('-----');
    const body = dashes === -1 ? rest : rest.slice(0, dashes);
    // Without its end, the key stops where lines stop looking like one: what follows is something else.
    const isWhole = dashes !== -1 && rest.startsWith('-----END', dashes);
    const { from, to } = trimBreaks(isWhole ? body : body.slice(0, cutKey(body)));
    return to <= from ? NOTHING : [{ from: end + from, to: end + to, kind: 'private-key' }];
  },
};

/** How much of the text is still key: whole lines of 20 characters of base64 or more, and the first, short one. */
function cutKey(body: string): number {
  const lines =
    /(?:(?:\\{1,8}[nr]|[\r\n]|^)[ \t]*(?:[A-Za-z0-9+/=]{20,}|[A-Za-z-]{1,30}: [^\n]{0,100})?)+[ \t]*(?:\\{1,8}[nr]|\n)?[A-Za-z0-9+/=]*/y;
  return lines.exec(body)?.[0].length ?? 0;
}

/** Without the line ends around it: BEGIN and END stay on lines of their own. */
function trimBreaks(body: string): { readonly from: number; readonly to: number } {
  const from = /^(?:\s|\\{1,8}[nrt])*/.exec(body)?.[0].length ?? 0;
  let to = body.length;
  for (let cut = trailingBreak(body, to); cut > 0 && to > from; cut = trailingBreak(body, to)) to -= cut;
  return { from, to };
}

function trailingBreak(body: string, to: number): number {
  return /(?:\s|\\{1,8}[nrt])$/.exec(body.slice(Math.max(0, to - 10), to))?.[0].length ?? 0;
}
