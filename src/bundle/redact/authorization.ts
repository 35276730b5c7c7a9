import { type Detector, NOTHING, spanOfGroup } from './span.ts';

/** HTTP headers: RFC 9110 Authorization, Proxy-Authorization, Cookie. As text, in JSON, in Go's map[…:[…]], after -H. */

const HEADER = String.raw`authorization(?:\\*["'])?[ \t]{0,3}[:=][ \t]{0,3}\[?(?:\\*["'])?`;

/** In the order in which they are tried; without a scheme it has to look like a token, `authorization: webhook` does not. */
const FORMS = [
  // One word follows.
  String.raw`(?:bearer|basic|token|apikey|negotiate|ntlm)(?:[ \t]{1,3}|%20)([^\s"'\\\],;]+)`,
  // Parameters follow, to the end of the header.
  String.raw`(?:digest|hawk|aws4-hmac-sha256)[ \t]{1,3}([^\r\n"'\\\]]+)`,
  String.raw`((?=[A-Za-z._~+/-]{0,64}\d)[\w.~+/=-]{16,})`,
].map(credentials => new RegExp(HEADER + credentials, 'diy'));

/** `Authorization: Bearer …`, `Basic …`, `AWS4-HMAC-SHA256 …`, as a header or a member of JSON. */
export const authorization: Detector = {
  triggers: ['aut'],
  head: /authorization/iy,
  find(text, at) {
    for (const form of FORMS) {
      const spans = spanOfGroup(form, text, at, 'authorization');
      if (spans.length > 0) return spans;
    }
    return NOTHING;
  },
};

const BEARER = /bearer(?:[ \t]{1,3}|%20)((?=[A-Za-z._~+/-]{0,64}\d)[\w.~+/-]{16,}={0,2})/diy;

/** A bearer token away from its header. */
export const bearer: Detector = {
  triggers: ['bea'],
  head: /bearer(?=[ %\t])/iy,
  find: (text, at) => spanOfGroup(BEARER, text, at, 'authorization'),
};

const BASIC = /basic[ \t]{1,3}([A-Za-z0-9+/]{6,4096}={0,2})/diy;

/** `Basic dXNlcjpwYXNz` away from its header: base64 of a user, a colon, a password. "Basic authentication" is not. */
export const basic: Detector = {
  triggers: ['bas'],
  head: /basic(?=[ \t])/iy,
  find(text, at) {
    const spans = spanOfGroup(BASIC, text, at, 'authorization');
    return spans.some(({ from, to }) => !isUserAndPassword(text.slice(from, to))) ? NOTHING : spans;
  },
};

const COOKIE = /cookie(?:\\*["'])?[ \t]{0,3}:[ \t]{0,3}\[?(?:\\*["'])?([^\s"'\\\]=;]{1,100}=[^\r\n"'\\\]]+)/diy;

/** `Cookie: session=…`, `Set-Cookie: …`: all of the pairs. */
export const cookie: Detector = {
  triggers: ['coo'],
  head: /cookie(?=[\\"': ])/iy,
  find: (text, at) => spanOfGroup(COOKIE, text, at, 'cookie'),
};

/** Docker's config.json and containerd's config.toml: `"auth": "dXNlcjpwYXNz"`, `auth = "…"`; .npmrc: `_auth=…`. */
const AUTH = /auth(?:\\*["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\*["'])?([A-Za-z0-9+/]{6,4096}={0,2})/diy;

/** Base64 of `user:password` alone: other values that are called `auth` stay. */
export const dockerAuth: Detector = {
  triggers: ['aut'],
  head: /auth(?=[\\"'=: ])/iy,
  find(text, at) {
    const spans = spanOfGroup(AUTH, text, at, 'docker-auth');
    return spans.some(({ from, to }) => !isUserAndPassword(text.slice(from, to))) ? NOTHING : spans;
  },
};

function isUserAndPassword(base64: string): boolean {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  return text.includes(':') && /^[\x20-\x7e]+$/.test(text);
}
