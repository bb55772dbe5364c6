import type { Amount } from './measureTree.js';

export const amountKinds = ['bytes', 'entries'] as const;

export const zero = (): Amount => ({ bytes: 0, entries: 0 });

export const sum = (...amounts: Readonly<Amount>[]): Amount => ({
	bytes: amounts.reduce((all, { bytes }) => all + bytes, 0),
	entries: amounts.reduce((all, { entries }) => all + entries, 0),
});

/** The sum of two, never less than nothing. */
export function plus(a: Amount, b: Amount): Amount {
	return { bytes: Math.max(0, a.bytes + b.bytes), entries: Math.max(0, a.entries + b.entries) };
}

export const negative = ({ bytes, entries }: Readonly<Amount>): Amount => ({ bytes: -bytes, entries: -entries });

export const smaller = (a: Readonly<Amount>, b: Readonly<Amount>): Amount => ({
	bytes: Math.min(a.bytes, b.bytes),
	entries: Math.min(a.entries, b.entries),
});

export const isNothing = ({ bytes, entries }: Readonly<Amount>): boolean => bytes === 0 && entries === 0;

export const isWithin = (a: Readonly<Amount>, b: Readonly<Amount>): boolean =>
	amountKinds.every((kind) => a[kind] <= b[kind]);
