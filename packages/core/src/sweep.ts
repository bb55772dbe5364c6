import { relayAges } from './events/relay/relayedEvent.js';
import type { Services } from './services.js';

/** How long it is listed what shares have received. */
const receiptMs = 30 * 24 * 60 * 60_000;

/** How long it is remembered what a home contains that nobody uses. */
const usageMs = 30 * 24 * 60 * 60_000;

/** Removes expired data, in one process at a time: a second process leaves it to the first. */
export async function sweep({
	audit,
	database,
	jobs,
	leases,
	links,
	resumableUploads,
	shareUses,
	trashBin,
	log,
	now,
}: Services): Promise<void> {
	try {
		// Its folder may be this process's own.
		await audit.sweep();
		const lease = await leases.acquire('sweep');
		if (lease === undefined) return;
		try {
			await database.sessions.sweep(now());
			await database.sweepKeyValues();
			await database.sweepLimits();
			await database.tickets.sweep();
			await database.events.sweep(relayAges);
			await database.leases.sweep();
			await links.sweep();
			await jobs.sweep();
			await resumableUploads.sweep();
			await shareUses.sweep();
			await database.shareUses.forgetReceipts(now() - receiptMs);
			await database.members.forgetChanges(now() - receiptMs);
			await trashBin.sweep();
			await database.homeUsage.sweep(usageMs);
		} finally {
			await lease.release();
		}
	} catch (error) {
		log.warn({ err: error }, 'expired rows could not be removed');
	}
}
