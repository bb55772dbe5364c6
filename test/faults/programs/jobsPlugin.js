import { appendFile, link, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A plugin whose jobs leave traces in `folder`. `POST /api/testJobs/{kind}/{count}` starts `count` jobs. Its options are not checked. */
export const plugin = {
	name: 'test-jobs',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	start(server, { folder }) {
		// What the server uses of a schema.
		const input = { parseAsync: async (data) => data };
		const append = (file, text) => appendFile(path.join(folder, file), `${text}\n`);

		/** Takes effect once: a second run of a job finds the effect of the first one, which was interrupted. */
		const takeEffect = async ({ id, attempt, checkpoint }) => {
			await checkpoint('begun');
			const staged = path.join(folder, `${id}.${attempt}.staged`);
			await writeFile(staged, '');
			try {
				await link(staged, path.join(folder, `${id}.effect`));
			} catch (error) {
				if (error.code !== 'EEXIST' || attempt === 1) throw error;
			}
			await rm(staged);
			await append('ran', `${id} ${attempt} ${process.pid}`);
		};

		const alone = async (job) => {
			const lock = path.join(folder, 'alone.lock');
			// The lock of the earlier run, which was killed.
			if (job.attempt > 1) await rm(lock, { force: true });
			await writeFile(lock, '', { flag: 'wx' });
			await takeEffect(job);
			await wait(2);
			await rm(lock);
		};

		const steps = async ({ id, saved = 0, attempt, signal, checkpoint, progress }) => {
			await append('begun', `${id} ${attempt} ${process.pid}`);
			// Runs until it is cancelled.
			for (let step = saved; ; step++) {
				signal.throwIfAborted();
				await append(`${id}.steps`, step);
				await checkpoint(step + 1);
				progress({ done: step + 1, total: 1_000_000, unit: 'items' });
				await wait(50, undefined, { signal });
			}
		};

		const starters = {
			many: server.jobs.define({
				name: 'many',
				input,
				onRestart: 'resume',
				concurrency: 4,
				perUser: 2000,
				run: takeEffect,
			}),
			alone: server.jobs.define({
				name: 'alone',
				input,
				onRestart: 'resume',
				concurrency: 1,
				perUser: 2000,
				run: alone,
			}),
			// Of mallory each ends the server, as a file does that its converter can't read.
			deadly: server.jobs.define({
				name: 'deadly',
				input,
				onRestart: 'resume',
				concurrency: 2,
				perUser: 2000,
				async run({ viewer, checkpoint }) {
					await append('deadly', viewer.username);
					await checkpoint('begun');
					if (viewer.username === 'mallory') process.kill(process.pid, 'SIGKILL');
				},
			}),
			steps: server.jobs.define({ name: 'steps', input, onRestart: 'resume', concurrency: 1, perUser: 10, run: steps }),
		};
		server.route({
			method: 'POST',
			path: '/api/testJobs/{kind}/{count}',
			async handler({ viewer, params: { kind, count } }) {
				const started = Array.from({ length: Number(count) }, (_, n) =>
					starters[kind].start(viewer, { n }, `${kind} ${n}`),
				);
				return (await Promise.all(started)).map(({ id }) => id);
			},
		});
	},
};
