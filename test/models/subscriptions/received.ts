// What a receiver that has only the bodies of webhook events knows of a subscription and its periods.

export type SubscriptionBody = Readonly<Record<string, unknown>>;
export type PeriodBody = { readonly number: number } & Readonly<Record<string, unknown>>;
/** A body as it arrives. */
export type Received = {
  readonly eventType: string;
  readonly subscription: SubscriptionBody;
  readonly period?: PeriodBody;
};

export class Receiver {
  subscription: SubscriptionBody | undefined;
  readonly #periods = new Map<number, PeriodBody>();

  take({ subscription, period }: Received): void {
    this.subscription = subscription;
    if (period) this.#periods.set(period.number, period);
  }

  /** As the API lists them: the newest first. */
  get periods(): PeriodBody[] {
    return [...this.#periods.values()].toSorted((one, other) => other.number - one.number);
  }
}
