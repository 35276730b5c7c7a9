import type { LabFolder } from './folder.ts';

export async function startJournald(_folder: LabFolder): Promise<void> {
  throw new Error('not yet');
}
