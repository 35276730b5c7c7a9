/** A JSON array with a line for each of its members: for programs as a whole, for people and citations by line. */
export function jsonLines(members: readonly object[]): Buffer {
  return Buffer.from(`[\n${members.map(member => JSON.stringify(member)).join(',\n')}\n]\n`);
}
