// How the service sends amounts.
/** An amount in minor units. A sum with more digits than a number of JavaScript is sent as a text. */
export type Minor = number | string | bigint;
