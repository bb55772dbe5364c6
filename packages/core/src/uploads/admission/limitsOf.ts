import { Failure, isStranger, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { limitAddress, siteKey } from '../../http/requests/proxy.js';

/** An amount that arrives, or is announced. */
export interface UploadAmount {
	files: number;
	bytes: number;
}

/** A limit of an hour, and what an amount takes of it. */
export interface Limit {
	key: string;
	max: number;
	amount: number;
	/** Where all visitors share it, the key under which the amount of this one is counted. */
	visitorKey?: string;
}

/** What is counted of limits, by their keys. */
export type Windows = ReadonlyMap<string, { count: number; endsAt: number }>;

/** How many times as much as one address the largest network that one customer usually has may upload. */
const siteFactor = 4;

/**
 * Of what visitors share, those who have used less than this part may have so many times as much, so that a few leave something to all
 * others.
 */
const newcomerShare = 1 / 1000;
const newcomerFactor = 1.25;

/** The limits that an amount counts in: of the address and its network, for visitors also their own and that of all of them. */
export function limitsOf(
	uploads: Config['uploads'],
	viewer: Viewer,
	address: string,
	{ files, bytes }: UploadAmount,
): Limit[] {
	const from = limitAddress(address);
	const site = siteKey(from);
	const byOrigin = (name: string, max: number, amount: number): Limit[] => [
		{ key: `${name} ${from}`, max, amount },
		...(site === from ? [] : [{ key: `${name} ${site}`, max: siteFactor * max, amount }]),
	];
	// Who has a link to a share is not kept out by those who have none.
	const others = viewer.kind === 'user' ? 'guests' : 'visitors';
	const visitorLimits = (unit: string, max: number, maxOfAll: number, amount: number): Limit[] => {
		const own = byOrigin(`upload ${unit} visitor`, max || (maxOfAll && Number.POSITIVE_INFINITY), amount);
		return [...own, { key: `upload ${unit} ${others}`, max: maxOfAll, amount, visitorKey: own.at(-1)?.key ?? '' }];
	};
	const all = [
		...byOrigin('upload files', uploads.addressFilesPerHour, files),
		...byOrigin('upload bytes', uploads.addressBytesPerHour, bytes),
	];
	if (isStranger(viewer)) {
		all.push(
			...visitorLimits('files', uploads.anonymousFilesPerHour, uploads.anonymousTotalFilesPerHour, files),
			...visitorLimits('bytes', uploads.anonymousBytesPerHour, uploads.anonymousTotalBytesPerHour, bytes),
		);
	}
	return all.filter(({ max, amount }) => max > 0 && amount > 0);
}

/** The most that may be counted: more than the limit for a visitor who has used little of what all share. */
export function maxOf({ max, visitorKey }: Limit, windows: Windows): number {
	const isNewcomer = visitorKey !== undefined && (windows.get(visitorKey)?.count ?? 0) < newcomerShare * max;
	return isNewcomer ? newcomerFactor * max : max;
}

/** Throws `tooLarge` for an amount that never fits. */
export function assertPossible({ amount, max }: Limit): void {
	if (amount > max) throw new Failure('tooLarge', 'This upload is larger than what may be uploaded in an hour.');
}
