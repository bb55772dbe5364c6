import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import { Probe } from '../limits/Probe.js';
import type { Services } from '../services.js';
import { collect } from './collect.js';
import { countRequests } from './countRequests.js';
import { Exposition, type Family } from './exposition.js';

/** What this process counts and measures. Nothing is counted unless this was called. */
export interface Metrics {
	read(): Promise<Family[]>;
	close(): Promise<void>;
}

export function createMetrics(server: Server, services: Services): Metrics {
	const exposition = new Exposition();
	const counted = countRequests(server, services.config.basePath, exposition);
	const eventLoop = monitorEventLoopDelay({ resolution: 20 });
	eventLoop.enable();
	const jobCounts = new Probe(() => services.database.jobs.counts(), services.monotonic);
	return {
		read: async () => exposition.families(await collect(services, { ...counted, eventLoop, jobCounts })),
		async close() {
			eventLoop.disable();
		},
	};
}
