import type { Job, JobRecord } from '@stowage/plugin-api';

/** What the detail of a job says; null also for a text that is no JSON, as none of Stowage's is: it costs no list its other jobs. */
export function jobDetail({ detail }: Pick<JobRecord, 'detail'>): Job['detail'] {
	if (detail === null) return null;
	try {
		return JSON.parse(detail);
	} catch {
		return null;
	}
}
