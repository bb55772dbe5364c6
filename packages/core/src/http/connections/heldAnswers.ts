import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { Budget } from '../../limits/Budget.js';
import { limitAddress } from '../requests/proxy.js';

const MB = 1024 * 1024;

/** What is smaller has room in a socket, and is not counted. */
const smallBytes = 64 * 1024;

/**
 * Memory of the answers that are made whole before they are sent, such as lists and pictures: a client that reads
 * nothing would keep as many of them as it has connections.
 */
export function createHeldAnswers(limits = { total: 96 * MB, perClient: 32 * MB }) {
	const memory = new Budget(limits, 'Too many large answers are being sent. Please try again in a moment.');

	/** Reserves what this answer takes until it has left. Throws what `Budget` does. */
	return function hold(request: Request, response: ResponseObject, h: ResponseToolkit) {
		const made = madeWhole(response);
		if (made === undefined || made.length <= smallBytes || request.method === 'head') return response;
		const { res } = request.raw;
		const release = memory.reserve(limitAddress(request.client.address), Buffer.byteLength(made));
		if (res.closed) release();
		else res.once('close', release);
		if (typeof made !== 'string' || response.source === made) return response;
		// Made once is enough.
		const same = h.response(made).code(response.statusCode).type('application/json');
		for (const [name, value] of Object.entries(response.headers)) {
			if (name !== 'content-type' && value !== undefined) same.header(name, String(value));
		}
		return same;
	};
}

/** The text or the bytes of an answer, unless it is a stream. */
function madeWhole({ source, variety }: ResponseObject): string | Buffer | undefined {
	if (typeof source === 'string' || Buffer.isBuffer(source)) return source;
	return variety === 'plain' && source !== null ? JSON.stringify(source) : undefined;
}
