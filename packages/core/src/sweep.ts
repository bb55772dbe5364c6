import { relayAges } from './events/relay/relayedEvent.js';
import type { Services } from './services.js';

/** How long it is listed what shares have received. */
const receiptMs = 30 * 24 * 60 * 60_000;

/** How long it is remembered what a home contains that nobody uses. */
const usageMs = 30 * 24 * 60 * 60_000;

/** `byAge` unless the clock was set a short while ago. */
type Part = readonly [name: string, sweep: (choice: { byAge: boolean }) => Promise<unknown>];

/**
 * Removes expired data, in one process at a time: a second process leaves it to the first. A part that fails, such as
 * for a root that is away, keeps no other one from being swept; it is logged, once for as long as it goes on failing like that.
 * For a day after the clock was set nothing goes that was to be kept for long.
 */
export function createSweep(services: Services): () => Promise<void> {
	const { audit, database, jobs, leases, links, resumableUploads, shareUses, trashBin, log, now } = services;
	/** What fills up by the minute, and costs nobody anything where it goes too early. */
	const short: Part[] = [
		['limits', () => database.sweepLimits()],
		['tickets', () => database.tickets.sweep()],
		['events', () => database.events.sweep(relayAges)],
		['leases', () => database.leases.sweep()],
		// Those of a user beyond the latest, whatever the time is.
		['jobs', (choice) => jobs.sweep(choice)],
		['ended uploads', () => resumableUploads.forgetSurplus()],
		['parts of downloads from shares', () => shareUses.sweep()],
		// It asks the clock itself.
		['trash', () => trashBin.sweep()],
	];
	/** What was to be kept for hours or weeks: a clock that is set ahead would cost all of it. */
	const long: Part[] = [
		['sessions', () => database.sessions.sweep(now())],
		['small values', () => database.sweepKeyValues()],
		['links', () => links.sweep()],
		['uploads', () => resumableUploads.sweep()],
		['receipts of shares', () => database.shareUses.forgetReceipts(now() - receiptMs)],
		['changes of members', () => database.members.forgetChanges(now() - receiptMs)],
		['contents of homes', () => database.homeUsage.sweep(usageMs)],
	];
	/** The messages of those that have failed the last time. */
	let failing = new Map<string, string>();

	const sweepParts = async (failed: (part: string, error: unknown) => void): Promise<void> => {
		const byAge = trashBin.clock.isTrusted();
		// Its folder may be this process's own.
		await audit.sweep({ byAge }).catch((error: unknown) => failed('audit log', error));
		const lease = await leases.acquire('sweep');
		if (lease === undefined) return;
		try {
			for (const [part, sweep] of byAge ? [...long, ...short] : short)
				await sweep({ byAge }).catch((error: unknown) => failed(part, error));
		} finally {
			await lease.release();
		}
	};

	return async () => {
		const before = failing;
		failing = new Map();
		const failed = (part: string, error: unknown) => {
			const message = String(error);
			failing.set(part, message);
			if (before.get(part) !== message) log.warn({ err: error, part }, 'expired rows could not be removed');
		};
		await sweepParts(failed).catch((error: unknown) => failed('lease', error));
	};
}
