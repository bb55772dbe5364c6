import { createHash, randomBytes } from 'node:crypto';
import {
	type Job,
	type JobKind,
	type JobOwner,
	type JobRecord,
	type JobStarter,
	type JobStore,
	keyOfAnother,
} from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import { currentNetwork } from '../limits/currentNetwork.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import type { createKeyedMutex } from '../limits/keyedMutex.js';
import type { JobPublisher } from './JobPublisher.js';
import { jobLimits, shortened } from './jobLimits.js';
import type { JobRunner } from './runner/createJobRunner.js';

interface Dependencies {
	store: JobStore;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	publisher: Pick<JobPublisher, 'publish'>;
	runner: Pick<JobRunner, 'find' | 'wake' | 'refreshSuspects'>;
	/** A user's starts are serialized: in the database they wait for each other, and would use all of its connections. */
	exclusively: ReturnType<typeof createKeyedMutex>;
	/** Throws `notFound` for a job of another one. */
	findOwn(owner: JobOwner, id: string): Promise<JobRecord>;
	jobOf(record: JobRecord): Job;
}

/** Starts jobs of a kind, and finds those that were started. */
export function jobStarter<Input>(kind: JobKind<Input>, parts: Dependencies): JobStarter<Input> {
	const { store, databaseReserve, publisher, runner, exclusively, findOwn, jobOf } = parts;
	return {
		async start(owner, input, title, { expectedSeconds = 0, orderedBy = 'user', key } = {}) {
			const text = JSON.stringify(input ?? null);
			const bytes = Buffer.byteLength(text);
			if (bytes > jobLimits.inputBytes)
				throw new Failure('tooLarge', 'This is too much for one job. Please do it in several parts.');
			await databaseReserve.assertRoom(bytes);
			const id = key === undefined ? randomBytes(16).toString('hex') : idOfKey(owner, kind.name, key);
			const job = {
				...{ id, kind: kind.name, userId: owner.id, network: currentNetwork(), input: text, onRestart: kind.onRestart },
				isLong: kind.short !== undefined && expectedSeconds > kind.short.seconds,
				isOrdered: orderedBy === 'administrator',
				title: shortened(title, jobLimits.titleBytes),
			};
			try {
				await exclusively(owner.id, () => store.add(job, boundsOf(kind, job)));
			} catch (error) {
				// Another attempt at this request was faster.
				if (key === undefined || !isFailure(error, 'alreadyExists')) throw error;
				return jobOf(await findOwn(owner, id));
			}
			const started = jobOf(await findOwn(owner, id));
			publisher.publish(id, owner.id);
			runner.wake();
			return started;
		},

		async findByKey(owner, key, { maxBytes } = {}) {
			const id = idOfKey(owner, kind.name, key);
			const record = await store.find(id);
			if (record === undefined) return undefined;
			const text = await store.input(id, maxBytes);
			// It may have been removed meanwhile, with the input of others.
			if (text === undefined && (await store.find(id))?.hasInput) throw keyOfAnother();
			const input = text === undefined ? undefined : await kind.input.parseAsync(JSON.parse(text));
			return { job: jobOf(runner.find(id)?.record ?? record), input };
		},

		async takeSaved(owner, isChosen) {
			const taken: unknown[] = [];
			for (const { id, saved } of await store.failedCheckpoints(kind.name, owner.id)) {
				const value: unknown = JSON.parse(saved);
				if (isChosen(value) && (await store.forgetCheckpoint(id))) taken.push(value);
			}
			return taken;
		},

		async find(owner, id) {
			await runner.refreshSuspects();
			const record = await findOwn(owner, id);
			const input = record.kind === kind.name ? await store.input(id) : undefined;
			if (input === undefined) throw noSuchJob();
			return { job: jobOf(record), input: await kind.input.parseAsync(JSON.parse(input)) };
		},
	};
}

/** How much a user may have waiting. What the administrator starts is accepted however many bytes that is. */
export function boundsOf({ perUser }: { perUser: number }, { isOrdered }: Pick<JobRecord, 'isOrdered'>) {
	return { jobs: perUser, bytes: isOrdered ? Number.MAX_SAFE_INTEGER : jobLimits.userBytes };
}

export const noSuchJob = () => new Failure('notFound', 'There is no such job.');

/** The id of the job with an idempotency key: equal for every attempt, and different for all other users and kinds. */
function idOfKey({ id }: JobOwner, kind: string, key: string): string {
	return createHash('sha256').update(`job ${kind} ${id} ${key}`).digest('hex').slice(0, 32);
}
