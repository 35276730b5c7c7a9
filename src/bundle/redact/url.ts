import { type Detector, NOTHING, spanOfGroup } from './span.ts';

/** `scheme://user:password@host`, RFC 3986 userinfo; a token alone before the @ is taken when it is longer than a user's name. */
const PASSWORD = /:\/\/[^\s/?#@:"'<>\\]{0,256}:([^\s/?#@"'<>\\]{1,512})@(?!sha\d)/dy;
const TOKEN = /:\/\/([^\s/?#@:"'<>\\]{20,512})@(?!sha\d)/dy;
/** A slash in a password has to be escaped, and often is not; digits and a slash are a port and a path. */
const SLOPPY = /:\/\/[^\s/?#@:"'<>\\]{1,64}:((?!\d{1,5}\/)[^\s@"'<>\\]{1,128})@(?!sha\d)[\w.-]{1,128}(?=[:/])/dy;

/** `https://user:password@host`, `https://token@host`: the secret part. */
export const urlCredentials: Detector = {
  triggers: ['://'],
  head: /:\/\//y,
  find(text, at) {
    if (text.startsWith('[redacted', at + 3)) return NOTHING;
    for (const pattern of [PASSWORD, TOKEN, SLOPPY]) {
      const spans = spanOfGroup(pattern, text, at, 'url').filter(({ from, to }) => !isMasked(text.slice(from, to)));
      if (spans.length > 0) return spans;
    }
    return NOTHING;
  },
};

/** Signed links: whoever has the link has the file. */
const SIGNATURE = /(?<=x-(?:amz|goog)-|[?&])sig(?:nature)?=([A-Za-z0-9%+/_-]{16,1024}={0,2})/diy;

/** The signature of a link that needs no other credentials. */
export const signedLink: Detector = {
  triggers: ['sig'],
  head: /sig(?:nature)?=/iy,
  find: (text, at) => spanOfGroup(SIGNATURE, text, at, 'url'),
};

const WEBHOOK = /hooks\.slack\.com\/(?:services|workflows)\/([A-Za-z0-9/_-]{20,255})/dy;

/** Whoever has its path may post. */
export const slackWebhook: Detector = {
  triggers: ['hoo'],
  head: /hooks\.slack\.com\//y,
  find: (text, at) => spanOfGroup(WEBHOOK, text, at, 'slack'),
};

function isMasked(value: string): boolean {
  return /^(?:\*+|x{3,}|%2A+|\[redacted.*|\$[({]?\w+[)}]?)$/i.test(value);
}
