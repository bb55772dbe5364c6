import * as contract from '@stowage/contract';
import { idempotencyKey, type JobOwner, route } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import type { Services } from '../services.js';
import { changeRoutes } from './changeRoutes.js';
import { arrayText, listed } from './queued.js';

/** The caller's jobs: starting, reading, cancelling and retrying them. */
export function jobRoutes(services: Services) {
	const { jobs, pasting } = services;
	const change = changeRoutes(services);
	return [
		change(contract.startJob, async ({ viewer, payload, request, h }) => {
			const { kind, type, toType, ...pasted } = payload;
			const input = { from: type, to: toType ?? type, ...pasted, address: request.client.address };
			const key = idempotencyKey(request.headers);
			const { id } = await pasting.start(ownerOf(viewer), kind, input, { key, signal: clientGone(request) });
			return h.response({ id }).code(202);
		}),
		route(contract.jobs, async ({ viewer, request, h }) => {
			const owner = ownerOf(viewer);
			// Two hundred with 16 kB of details each may have ended.
			const text = await listed(services, viewer, request, (yielder, signal) =>
				arrayText(jobs.texts(owner), (each) => each, yielder, signal),
			);
			return h.response(text).type('application/json');
		}),
		route(contract.findJob, ({ viewer, params }) => jobs.find(ownerOf(viewer), params.id ?? '')),
		change(contract.cancelJob, async ({ viewer, params }) => {
			await jobs.cancel(ownerOf(viewer), params.id ?? '');
			return { message: 'It is being cancelled.' };
		}),
		change(contract.retryJob, ({ viewer, params }) => jobs.retry(ownerOf(viewer), params.id ?? '')),
	];
}

/** The user whose jobs a call is about. Throws `notSignedIn` for a visitor, who has none. */
export function ownerOf(viewer: Viewer): JobOwner {
	if (viewer.kind !== 'user') throw new Failure('notSignedIn', 'Please sign in first.');
	return viewer;
}
