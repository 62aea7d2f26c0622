// Tells a story once undisturbed, and then again for each message in it: the node dies before the message, and after it.
import { expect } from 'vitest';
import type { CrashableNode } from './crashable-node.ts';

/**
 * The story calls `arm` where deaths may begin, and the messages from there on are returned. Each end is judged; by default it must be that
 * of the undisturbed story.
 */
export async function atEveryDeath<End>(
  node: CrashableNode,
  tell: (arm: () => void) => Promise<End>,
  judge?: (end: End, where: string) => void,
): Promise<string[]> {
  // The first one also opens accounts, with more messages.
  await tell(() => undefined);
  const goodEnd = await tell(() => void (node.said.length = 0));
  const said = [...node.said];
  for (const [index, what] of said.entries()) {
    for (const when of ['before', 'after'] as const) {
      const where = `${when} ${index + 1}: ${what}`;
      const end = await tell(() => node.dieAt(index + 1, when));
      expect(node.hasDied, where).toBe(true);
      node.revive();
      if (judge) judge(end, where);
      else expect({ where, end }).toEqual({ where, end: goodEnd });
    }
  }
  return said;
}
