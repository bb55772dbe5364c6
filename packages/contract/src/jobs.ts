import { z } from 'zod';
import { endpoint } from './define.js';
import { area, itemPath, listOf, message, owner, path, replacing } from './schemas.js';

/** Items that one paste may name. */
export const maxJobItems = 10_000;

export const jobStatus = z.enum(['queued', 'processing', 'completed', 'failed', 'cancelled']);

export type JobStatus = z.output<typeof jobStatus>;

/** Why a job waits although there may be a free place for it, as a sentence, and before when it does not begin by itself. */
export const jobHold = z.object({ reason: z.string(), until: z.number().nullable() });

/** Long work of the caller's. Times are milliseconds since the epoch. */
export const job = z.object({
	id: z.string(),
	/** Such as `copy`, `move` or `convert`. */
	kind: z.string(),
	status: jobStatus,
	/** Its description for people: 'Copy 3 items to Holiday'. */
	title: z.string(),
	/** The part of `total` that is done; both 0 while unknown. */
	done: z.number(),
	total: z.number(),
	unit: z.enum(['bytes', 'items', 'percent']),
	/** Units per second; null if unknown. */
	speed: z.number().nullable(),
	/** Seconds; null if unknown. */
	timeLeft: z.number().nullable(),
	/** Why it failed, for people; for a cancelled one, what it had done. */
	error: z.string().nullable(),
	/** Whether `POST /api/jobs/{id}/retry` would run it again. */
	canRetry: z.boolean(),
	/** Whether `DELETE /api/jobs/{id}` would end it: not once it has ended, and not if the administrator has started it. */
	canCancel: z.boolean(),
	hold: jobHold.nullable(),
	/** The details of this kind while it runs, and its result at the end. */
	detail: z.record(z.string(), z.unknown()).nullable(),
	createdAt: z.number(),
	startTime: z.number().nullable(),
	endTime: z.number().nullable(),
});

/**
 * The `detail` of a `copy` or `move`: how many items of those named are in their place and how many are not, and why, for the first of
 * these; and under which names.
 */
export const transferDetail = z.object({
	done: z.number(),
	failed: z.number(),
	/** `index` is the place of the item in the list: items of several owners may have one path. */
	errors: z
		.array(
			z.object({ index: z.number().optional(), path: z.string(), message: z.string(), code: z.string().optional() }),
		)
		.default([]),
	/** The items whose names were taken, by their places in the list, with the names that they got; the first ones. */
	renamed: z.array(z.tuple([z.number(), z.string()])).default([]),
	/** How many others got other names. */
	unlisted: z.number().default(0),
});

/** What a conversion does besides encoding: `checking` what the new file lacks, for which the original may be decoded once more. */
export const conversionPhase = z.enum(['checking']);

/** The `detail` of a `convert`, as far as known. The job's id is the id of the conversion. */
export const conversionDetail = z.object({
	/** Frames a second, at the moment and on average. */
	currentFps: z.number().nullish(),
	averageFps: z.number().nullish(),
	/** Such as `1h2m3s`. */
	eta: z.string().nullish(),
	/** Null for one that a newer version knows. */
	phase: conversionPhase.nullish().catch(null),
	/** Relative to the area. */
	outputPath: z.string().nullish(),
	/** Bytes of the original and, at the end, of the new file. */
	sizeBefore: z.number().nullish(),
	sizeAfter: z.number().nullish(),
	/** At the end: whether it was requested that the original is deleted. */
	deletesOriginal: z.boolean().nullish(),
	/**
	 * At the end: the original is also kept if it was to be deleted but was changed during the conversion, or if the new file lacks
	 * something of it.
	 */
	isOriginalDeleted: z.boolean().nullish(),
	/** At the end: why else the original was kept that was to be deleted, as a sentence, where there is more to say. */
	keptReason: z.string().nullish(),
	/** At the end: what the new file lacks, in words such as `1 of 2 video tracks`. */
	losses: z.array(z.string()).nullish(),
});

/** The caller's jobs, the newest first. */
export const jobs = endpoint({ method: 'GET', path: '/api/jobs', audience: 'user', result: z.array(job) });

export const findJob = endpoint({ method: 'GET', path: '/api/jobs/{id}', audience: 'user', result: job });

/** Cancels a job. Does nothing to one that has ended. 403 for one that the administrator has started. */
export const cancelJob = endpoint({ method: 'DELETE', path: '/api/jobs/{id}', audience: 'user', result: message });

/** Runs a failed or cancelled job again, from its checkpoint if its kind resumes. */
export const retryJob = endpoint({ method: 'POST', path: '/api/jobs/{id}/retry', audience: 'user', result: job });

/** The response to `Prefer: respond-async`, as 202, when a call takes longer. */
export const respondedAsync = z.object({ jobId: z.string() });

/**
 * Copies or moves items of the area `type` into the folder `directory` of `toType`, by default the same area. Answers
 * 202. `ifMatch` is for a single item.
 */
export const startJob = endpoint({
	method: 'POST',
	path: '/api/jobs',
	audience: 'user',
	payload: z.strictObject({
		kind: z.enum(['copy', 'move']),
		type: area,
		toType: area.optional(),
		directory: path,
		items: listOf(z.strictObject({ path: itemPath, owner: owner.optional() }), maxJobItems),
		...replacing,
	}),
	maxPayloadBytes: 16 * 1024 * 1024,
	result: z.object({ id: z.string() }),
});
