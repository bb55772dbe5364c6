import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isFailure } from '@stowage/rules';
import { Budget } from '../../limits/Budget.js';
import type { QueueClient } from '../../limits/FairQueue.js';
import type { RecentNetworks } from '../../limits/RecentNetworks.js';
import { isVisitorKey, queueClient, siteKey } from '../requests/proxy.js';

const MB = 1024 * 1024;

/** What is smaller has room in a socket, and is not counted. */
const smallBytes = 64 * 1024;

const defaultLimits = {
	total: 96 * MB,
	perClient: 32 * MB,
	group: { total: 48 * MB, includes: isVisitorKey },
	reservedPerSite: MB / 2,
};

/** An answer on its way. */
interface Held {
	network: string;
	/** The client's `siteKey`. */
	site: string;
	bytes: number;
	end(): void;
}

/**
 * Memory of the answers that are made whole before they are sent, such as lists and pictures: a client that reads
 * nothing would keep as many of them as it has connections.
 */
export function createHeldAnswers(limits = defaultLimits, networks?: RecentNetworks) {
	const busy = 'Too many large answers are being sent. Please try again in a moment.';
	const memory = new Budget(limits, busy, networks);
	/** The oldest first. */
	const underWay = new Set<Held>();

	/**
	 * Ends the oldest answer of the network that holds most, and there of the site that does; or else of the sites in the client's own
	 * network. False without ending any, unless the networks, or these sites, that hold more than this one will have so many bytes more
	 * between them.
	 */
	const makeRoom = ({ client, network }: Required<QueueClient>, bytes: number): boolean => {
		// What accounts have is no part of what visitors may have.
		const all = [...underWay].filter(({ site }) => !isVisitorKey(client) || isVisitorKey(site));
		const ofNetwork = (key: string) => all.filter((each) => each.network === key);
		const largest = largestOf(sizesBy(all, 'network'), network, bytes);
		const among = ofNetwork(largest ?? network);
		const sizes = sizesBy(among, 'site');
		const site = largest === undefined ? largestOf(sizes, siteKey(client), bytes) : largestOf(sizes, '', 0);
		const oldest = among.find((each) => each.site === site);
		oldest?.end();
		return oldest !== undefined;
	};

	/** Reserves what this answer takes until it has left. Throws what `Budget` does. */
	return function hold(request: Request, response: ResponseObject, h: ResponseToolkit) {
		const made = madeWhole(response);
		if (made === undefined || made.length <= smallBytes || request.method === 'head') return response;
		const { res } = request.raw;
		const from = queueClient(request.viewer, request.client.address);
		const bytes = Buffer.byteLength(made);
		const free = reserved(from, bytes);
		const release = () => {
			free();
			underWay.delete(held);
		};
		const held: Held = {
			...{ network: from.network, site: siteKey(from.client), bytes },
			end() {
				release();
				res.destroy();
			},
		};
		if (res.closed) free();
		else {
			underWay.add(held);
			res.once('close', release);
		}
		if (typeof made !== 'string' || response.source === made) return response;
		// Made once is enough.
		const same = h.response(made).code(response.statusCode).type('application/json');
		for (const [name, value] of Object.entries(response.headers)) {
			if (name !== 'content-type' && value !== undefined) same.header(name, String(value));
		}
		return same;
	};

	function reserved(from: Required<QueueClient>, bytes: number): () => void {
		for (;;) {
			try {
				return memory.reserve(from, bytes);
			} catch (error) {
				if (!isFailure(error, 'unavailable') || !makeRoom(from, bytes)) throw error;
			}
		}
	}
}

function sizesBy(held: readonly Held[], key: 'network' | 'site'): Map<string, number> {
	const sizes = new Map<string, number>();
	for (const each of held) sizes.set(each[key], (sizes.get(each[key]) ?? 0) + each.bytes);
	return sizes;
}

/** Who has most, if those who have more than `own` with so many bytes more have at least these more between them. */
function largestOf(sizes: ReadonlyMap<string, number>, own: string, bytes: number): string | undefined {
	const least = (sizes.get(own) ?? 0) + bytes;
	let most = least;
	let surplus = 0;
	let largest: string | undefined;
	for (const [key, size] of sizes) {
		surplus += Math.max(0, size - least);
		if (size > most) [largest, most] = [key, size];
	}
	return surplus < bytes ? undefined : largest;
}

/** The text or the bytes of an answer, unless it is a stream. */
function madeWhole({ source, variety }: ResponseObject): string | Buffer | undefined {
	if (typeof source === 'string' || Buffer.isBuffer(source)) return source;
	return variety === 'plain' && source !== null ? JSON.stringify(source) : undefined;
}
