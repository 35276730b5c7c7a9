/** Room beside what is kept: as often as this much has come, the rest is moved to the front. */
const SLACK_BYTES = 4 << 20;

/** The last `maxBytes` of what is read into it, in one piece of memory: a tail of megabytes is never there twice. */
export class Newest {
  readonly #maxBytes: number;
  readonly #into: Buffer;
  #filled = 0;
  #total = 0;

  /** Memory that is never written to costs nothing, so a file may turn out smaller. */
  constructor(maxBytes: number, slackBytes = SLACK_BYTES) {
    this.#maxBytes = maxBytes;
    this.#into = Buffer.allocUnsafeSlow(maxBytes + slackBytes);
  }

  /** Where the next bytes go, `bytes` at most, which is no more than the slack. */
  room(bytes: number): Buffer {
    if (this.#into.length - this.#filled < bytes) {
      this.#into.copyWithin(0, this.#filled - this.#maxBytes, this.#filled);
      this.#filled = this.#maxBytes;
    }
    return this.#into.subarray(this.#filled, this.#filled + bytes);
  }

  took(bytes: number): void {
    this.#filled += bytes;
    this.#total += bytes;
  }

  /** Of all that came. */
  get total(): number {
    return this.#total;
  }

  bytes(): Buffer {
    return this.#into.subarray(Math.max(0, this.#filled - this.#maxBytes), this.#filled);
  }
}
