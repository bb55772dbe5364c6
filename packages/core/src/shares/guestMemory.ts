import type { Request } from '@hapi/hapi';
import { isVisitorKey, queueClient } from '../http/requests/proxy.js';
import { Budget, type BudgetLimits } from '../limits/Budget.js';

const MB = 1024 * 1024;

/** Half of what visitors have is what the thousand items of a share take whose paths are as long as any, with nothing in common. */
const defaultLimits: BudgetLimits = {
	total: 216 * MB,
	perClient: 72 * MB,
	group: { total: 144 * MB, includes: isVisitorKey },
	reservedPerSite: MB,
};

/** Reserves so many bytes more until the answer to the request has left. Throws what `Budget` does. */
export type GuestMemory = (request: Pick<Request, 'viewer' | 'client' | 'raw'>) => (bytes: number) => void;

/** Memory of the items of shares, which are kept for as long as a guest is answered, or waits for a turn. */
export function createGuestMemory(limits = defaultLimits): GuestMemory {
	const memory = new Budget(limits, 'Too many shares are being read. Please try again in a moment.');
	return ({ viewer, client, raw: { res } }) => {
		const { add, release } = memory.openReservation(queueClient(viewer, client.address));
		res.once('close', release);
		// What nobody waits for any more is read to its next turn.
		return (bytes) => {
			if (!res.closed) add(bytes);
		};
	};
}
