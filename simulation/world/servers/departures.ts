// What left for the banks, in order, with what its sender knew of the same operation and its original at that moment.
import type { Exchange } from '../../../src/acquiring/adapters/http/link.ts';
import type { Left } from '../../checks/world.ts';
import type { Leaving } from './bank.ts';

export function openDepartures() {
  const left: Left[] = [];
  /** The banks that may have each operation, once for each message. */
  const whereabouts = new Map<string, { readonly bankId: string }[]>();
  /** Charges and captures, by payment; and the operations that a node has heard to be approved. */
  const takers = new Map<string, Set<string>>();
  const approved = new Set<string>();

  function isProved({ operationId }: Leaving): boolean {
    return [...(takers.get(paymentOf(operationId)) ?? [])].some((taker) => approved.has(taker));
  }

  return {
    left: left as readonly Left[],
    /** Call the function it returns when the sender hears that nothing was done. */
    hasLeft(leaving: Leaving): () => void {
      const { operationId, bankId, takesMoney } = leaving;
      const payment = paymentOf(operationId);
      if (takesMoney) takers.set(payment, (takers.get(payment) ?? new Set()).add(operationId));
      const places = whereabouts.get(operationId) ?? [];
      whereabouts.set(operationId, places);
      const mayBeAt = places.map((place) => place.bankId);
      left.push({ ...leaving, mayBeAt, isProved: isProved(leaving) });
      const place = { bankId };
      places.push(place);
      return () => {
        if (places.includes(place)) places.splice(places.indexOf(place), 1);
      };
    },
    /** How many charges before a step-up a bank was asked to undo. */
    undone: () =>
      new Set(left.flatMap(({ operationId }) => (/\.f$/.test(operationId) ? [operationId] : []))).size,
    hears(operationId: string, heard: Exchange): void {
      if (heard.kind !== 'answer' || heard.status !== 200) return;
      const { outcome } = JSON.parse(heard.body.toString()) as { readonly outcome?: unknown };
      if (outcome === 'approved') approved.add(operationId);
    },
  };
}

function paymentOf(operationId: string): string {
  return operationId.slice(0, operationId.lastIndexOf('.'));
}
