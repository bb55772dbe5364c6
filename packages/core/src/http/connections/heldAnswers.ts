import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isFailure } from '@stowage/rules';
import { Budget } from '../../limits/Budget.js';
import { clientKey, isVisitorKey, siteKey } from '../requests/proxy.js';

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
	bytes: number;
	end(): void;
}

/**
 * Memory of the answers that are made whole before they are sent, such as lists and pictures: a client that reads
 * nothing would keep as many of them as it has connections.
 */
export function createHeldAnswers(limits = defaultLimits) {
	const memory = new Budget(limits, 'Too many large answers are being sent. Please try again in a moment.');
	/** Of each site, the oldest first. */
	const heldBy = new Map<string, Set<Held>>();

	/**
	 * Ends the oldest answer of the site that holds most. False without ending any, unless the sites that hold more than this client will
	 * have so many bytes more between them.
	 */
	const makeRoom = (client: string, bytes: number): boolean => {
		const sizeOf = (held: Iterable<Held> = []) => [...held].reduce((sum, each) => sum + each.bytes, 0);
		const own = sizeOf(heldBy.get(siteKey(client))) + bytes;
		let largest = own;
		let surplus = 0;
		let oldest: Held | undefined;
		for (const [site, held] of heldBy) {
			// What accounts have is no part of what visitors may have.
			if (isVisitorKey(client) && !isVisitorKey(site)) continue;
			const size = sizeOf(held);
			surplus += Math.max(0, size - own);
			if (size > largest) [largest, [oldest]] = [size, [...held]];
		}
		if (surplus < bytes) return false;
		oldest?.end();
		return oldest !== undefined;
	};

	/** Reserves what this answer takes until it has left. Throws what `Budget` does. */
	return function hold(request: Request, response: ResponseObject, h: ResponseToolkit) {
		const made = madeWhole(response);
		if (made === undefined || made.length <= smallBytes || request.method === 'head') return response;
		const { res } = request.raw;
		const client = clientKey(request.viewer, request.client.address);
		const bytes = Buffer.byteLength(made);
		const free = reserved(client, bytes);
		const site = siteKey(client);
		const ofSite = heldBy.get(site) ?? new Set();
		const release = () => {
			free();
			ofSite.delete(held);
			if (ofSite.size === 0) heldBy.delete(site);
		};
		const held: Held = {
			bytes,
			end() {
				release();
				res.destroy();
			},
		};
		if (res.closed) free();
		else {
			heldBy.set(site, ofSite.add(held));
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

	function reserved(client: string, bytes: number): () => void {
		for (;;) {
			try {
				return memory.reserve(client, bytes);
			} catch (error) {
				if (!isFailure(error, 'unavailable') || !makeRoom(client, bytes)) throw error;
			}
		}
	}
}

/** The text or the bytes of an answer, unless it is a stream. */
function madeWhole({ source, variety }: ResponseObject): string | Buffer | undefined {
	if (typeof source === 'string' || Buffer.isBuffer(source)) return source;
	return variety === 'plain' && source !== null ? JSON.stringify(source) : undefined;
}
