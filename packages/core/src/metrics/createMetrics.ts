import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
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
	return {
		read: async () => exposition.families(await collect(services, { ...counted, eventLoop })),
		async close() {
			eventLoop.disable();
		},
	};
}
