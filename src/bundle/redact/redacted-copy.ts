/** The copy of a body without its secrets. Begun only when the first is met: a body without any is not copied. */
export class RedactedCopy {
  readonly #body: Buffer;
  #copy: Buffer | null = null;
  #length = 0;
  #taken = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Puts `word` in the place of the bytes [from, to) of the body; in rising order. */
  replace(from: number, to: number, word: string): void {
    this.#copy ??= Buffer.allocUnsafe(this.#body.length + 4096);
    this.#takeUpTo(from, word.length);
    this.#length += this.#copy.write(word, this.#length, 'latin1');
    this.#taken = to;
  }

  finish(): Buffer {
    if (this.#copy === null) return this.#body;
    this.#takeUpTo(this.#body.length, 0);
    return this.#copy.subarray(0, this.#length);
  }

  #takeUpTo(end: number, more: number): void {
    let copy = this.#copy as Buffer;
    const needed = this.#length + (end - this.#taken) + more;
    if (needed > copy.length) {
      copy = Buffer.allocUnsafe(Math.ceil(needed * 1.25));
      (this.#copy as Buffer).copy(copy, 0, 0, this.#length);
      this.#copy = copy;
    }
    this.#length += this.#body.copy(copy, this.#length, this.#taken, end);
    this.#taken = end;
  }
}
