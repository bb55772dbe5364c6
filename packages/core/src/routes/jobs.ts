import * as contract from '@stowage/contract';
import { type JobOwner, route } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import type { Services } from '../services.js';

/** The caller's long work: looking at it, ending it and trying it again. */
export function jobRoutes({ jobs }: Services) {
	return [
		route(contract.jobs, ({ viewer }) => jobs.list(ownerOf(viewer))),
		route(contract.findJob, ({ viewer, params }) => jobs.find(ownerOf(viewer), params.id ?? '')),
		route(contract.cancelJob, async ({ viewer, params }) => {
			await jobs.cancel(ownerOf(viewer), params.id ?? '');
			return { message: 'It is being cancelled.' };
		}),
		route(contract.retryJob, ({ viewer, params }) => jobs.retry(ownerOf(viewer), params.id ?? '')),
	];
}

function ownerOf(viewer: Viewer): JobOwner {
	if (viewer.kind === 'anonymous') throw new Failure('notSignedIn', 'Please sign in first.');
	return viewer;
}
