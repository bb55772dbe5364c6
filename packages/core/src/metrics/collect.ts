import { readdir } from 'node:fs/promises';
import type { IntervalHistogram } from 'node:perf_hooks';
import { Failure, isFailure } from '@stowage/rules';
import type { FairQueue } from '../limits/FairQueue.js';
import { inTime } from '../limits/inTime.js';
import type { Probe } from '../limits/Probe.js';
import type { Services } from '../services.js';
import { rootStates } from '../trees/roots/rootStates.js';
import type { Transfers } from './countRequests.js';
import type { Collected, Sample } from './exposition.js';

/** Milliseconds. A disk or a database that does not answer must not hold up the other metrics. */
const timeoutMs = 2000;

/** Less than that: the disk that hangs is a value itself, on which an alarm waits. */
const rootMs = 1500;

interface Sources {
	underWay: Transfers;
	bytes(): { received: number; sent: number; connections: number };
	eventLoop: IntervalHistogram;
	/** One question at a time, or a database that hangs would have a connection less after each reading. */
	jobCounts: Probe<Awaited<ReturnType<Services['database']['jobs']['counts']>>>;
}

const gauge = (name: string, help: string, ...samples: Sample[]): Collected => ({ name, type: 'gauge', help, samples });
const counter = (name: string, help: string, ...samples: Sample[]): Collected => ({
	...gauge(name, help, ...samples),
	type: 'counter',
});

/** The values that are read at each scrape. Those that are not available in time are left out. */
export async function collect(services: Services, sources: Sources): Promise<Collected[]> {
	const parts = await Promise.all([
		ofServer(services, sources),
		withTimeout(ofDatabase(services)),
		withTimeout(ofJobs(sources)),
		withTimeout(ofRoots(services)),
		ofProcess(sources.eventLoop),
	]);
	return parts.flat();
}

/** What is collected; nothing if that takes too long or fails with a Failure. */
async function withTimeout(collecting: Promise<Collected[]>): Promise<Collected[]> {
	try {
		return await inTime(collecting, timeoutMs, new Failure('unavailable', 'Too late.'));
	} catch (error) {
		if (!isFailure(error)) throw error;
		return [];
	}
}

function ofServer(
	{ accounts, archives, thumbnails, walkQueue, listingQueue, changeQueue, version }: Services,
	sources: Sources,
): Collected[] {
	const { received, sent, connections } = sources.bytes();
	const queues: [string, FairQueue][] = [
		['walks', walkQueue],
		['listings', listingQueue],
		['changes', changeQueue],
		['passwords', accounts.queue],
		['checksums', archives.queue],
		['thumbnails', thumbnails.queue],
	];
	const ofQueues = (read: (queue: FairQueue) => number) =>
		queues.map(([queue, each]): Sample => [{ queue }, read(each)]);
	const { rendered, cached } = thumbnails.counts;
	return [
		gauge('stowage_info', 'The version that runs.', [{ version }, 1]),
		counter('stowage_received_bytes_total', 'Bytes received by all connections.', [{}, received]),
		counter('stowage_sent_bytes_total', 'Bytes sent by all connections.', [{}, sent]),
		gauge('stowage_connections', 'Open connections.', [{}, connections]),
		gauge(
			'stowage_transfers',
			'Uploads, downloads and archives under way.',
			[{ kind: 'upload' }, sources.underWay.upload],
			[{ kind: 'download' }, sources.underWay.download],
			[{ kind: 'archive' }, archives.underWay()],
		),
		gauge(
			'stowage_queue_running',
			'Work that runs, by the queue it came through.',
			...ofQueues((queue) => queue.running),
		),
		gauge('stowage_queue_waiting', 'Work that waits for its turn.', ...ofQueues((queue) => queue.waiting)),
		counter(
			'stowage_thumbnails_total',
			'Thumbnails that were made, and that were there already.',
			[{ result: 'rendered' }, rendered],
			[{ result: 'cached' }, cached],
		),
	];
}

async function ofDatabase({ databaseProbe }: Services): Promise<Collected[]> {
	const seconds = await databaseProbe.answer();
	return [gauge('stowage_database_ping_seconds', 'How long the database took to answer just now.', [{}, seconds])];
}

async function ofJobs({ jobCounts }: Sources): Promise<Collected[]> {
	const counts = await jobCounts.answer();
	return [
		gauge(
			'stowage_jobs',
			'Jobs that are remembered, of all servers on this database.',
			...counts.map(({ kind, status, count }): Sample => [{ kind, status }, count]),
		),
	];
}

async function ofRoots({ roots }: Services): Promise<Collected[]> {
	const all = await rootStates(roots, rootMs);
	const ofAll = (read: (root: (typeof all)[number]) => number | null) =>
		all.flatMap((root): Sample[] => {
			const value = read(root);
			return value === null ? [] : [[{ root: root.name }, value]];
		});
	return [
		gauge(
			'stowage_root_up',
			'Whether the storage root can be used.',
			...ofAll(({ fault }) => (fault === null ? 1 : 0)),
		),
		gauge('stowage_root_free_bytes', 'Free space of its disk.', ...ofAll(({ freeBytes }) => freeBytes)),
		gauge('stowage_root_size_bytes', 'Size of its disk.', ...ofAll(({ totalBytes }) => totalBytes)),
	];
}

async function ofProcess(eventLoop: IntervalHistogram): Promise<Collected[]> {
	const { rss, heapUsed } = process.memoryUsage();
	const { user, system } = process.cpuUsage();
	const seconds = (nanoseconds: number) => (Number.isNaN(nanoseconds) ? 0 : nanoseconds / 1e9);
	const delays: Sample[] = [
		[{ quantile: '0.5' }, seconds(eventLoop.percentile(50))],
		[{ quantile: '0.99' }, seconds(eventLoop.percentile(99))],
		[{ quantile: '1' }, seconds(eventLoop.max)],
	];
	eventLoop.reset();
	const startTime = (performance.timeOrigin ?? 0) / 1000;
	// Only Linux has it.
	const descriptors = await readdir('/proc/self/fd').then(
		({ length }) => [gauge('process_open_fds', 'Open descriptors.', [{}, length])],
		() => [],
	);
	return [
		gauge('stowage_event_loop_delay_seconds', 'How late the event loop was since the last reading.', ...delays),
		gauge('process_resident_memory_bytes', 'Memory of the process.', [{}, rss]),
		gauge('nodejs_heap_size_used_bytes', 'Memory of its JavaScript.', [{}, heapUsed]),
		counter('process_cpu_seconds_total', 'Time of the processor.', [{}, (user + system) / 1e6]),
		gauge('process_start_time_seconds', 'When it was started, since the epoch.', [{}, startTime]),
		...descriptors,
	];
}
