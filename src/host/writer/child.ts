export async function serveWriter(): Promise<number> {
  return 1;
}
