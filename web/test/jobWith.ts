import type { Job } from '../src/api/jobs/jobs.js';

/** A copy of a few items that has just begun, with the given changes. */
export const jobWith = (given: Partial<Job> = {}): Job => ({
	id: '1',
	kind: 'copy',
	status: 'processing',
	title: 'Copy 3 items to Holiday',
	done: 0,
	total: 0,
	unit: 'bytes',
	speed: null,
	timeLeft: null,
	error: null,
	canRetry: false,
	canCancel: true,
	hold: null,
	detail: null,
	createdAt: 0,
	startTime: null,
	endTime: null,
	...given,
});
