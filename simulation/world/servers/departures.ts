// What left for the banks, in order, with what its sender knew of the same operation at that moment.
import type { Left } from '../../checks/world.ts';
import type { Leaving } from './bank.ts';

export function openDepartures() {
  const left: Left[] = [];
  /** The banks that may have each operation, once for each message. */
  const whereabouts = new Map<string, { readonly bankId: string }[]>();
  return {
    left: left as readonly Left[],
    /** Call the function it returns when the sender hears that nothing was done. */
    hasLeft(leaving: Leaving): () => void {
      const { operationId, bankId } = leaving;
      const places = whereabouts.get(operationId) ?? [];
      whereabouts.set(operationId, places);
      left.push({ ...leaving, mayBeAt: places.map((place) => place.bankId) });
      const place = { bankId };
      places.push(place);
      return () => {
        if (places.includes(place)) places.splice(places.indexOf(place), 1);
      };
    },
  };
}
