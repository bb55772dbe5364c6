import type { findJob, handbrakeConvert, handbrakeStatus, PayloadInput, ResultOf } from '@stowage/contract';
import type { Page } from 'playwright-core';

type Job = ResultOf<typeof findJob>;
type ConversionAnswer = ResultOf<typeof handbrakeStatus>;

interface Answers {
	available: boolean;
	/** By file name: the failure of its start. */
	refused: Record<string, string>;
	/** By file name: its status. */
	statuses: Record<string, Partial<ConversionAnswer>>;
	/** The names of those that were cancelled. */
	cancelled: string[];
	/** The bodies of the requests to start. */
	requests: PayloadInput<typeof handbrakeConvert>[];
	/** Refuses to cancel. */
	refusesCancel: boolean;
}

const waiting: Omit<ConversionAnswer, 'conversionId' | 'fileName'> = {
	status: 'queued',
	progress: 0,
	currentFps: null,
	averageFps: null,
	eta: null,
	error: null,
	startTime: null,
	endTime: null,
	outputPath: null,
	phase: null,
	hold: null,
	sizeBefore: null,
	sizeAfter: null,
	deletesOriginal: false,
	isOriginalDeleted: null,
	keptReason: null,
	losses: [],
};

/**
 * Answers a page's calls for conversions in place of the server, for states that take an encoder minutes or do not
 * occur in a test. A test sets the answers.
 */
export async function answerConversions(page: Page): Promise<Answers> {
	const answers: Answers = {
		available: true,
		refused: {},
		statuses: {},
		cancelled: [],
		requests: [],
		refusesCancel: false,
	};
	await page.route('**/api/handbrake/check', (route) => route.fulfill({ json: { available: answers.available } }));
	await page.route('**/api/handbrake/convert', async (route) => {
		const request = route.request().postDataJSON();
		const name = request.filePath.split('/').at(-1);
		answers.requests.push(request);
		const message = answers.refused[name];
		if (message === '') await route.fulfill({ status: 502, body: 'Bad gateway' });
		else if (message) await route.fulfill({ status: 400, json: refusal(400, 'INVALID', message) });
		else await route.fulfill({ status: 202, json: { conversionId: encodeURIComponent(name) } });
	});
	await page.route('**/api/handbrake/status/*', async (route) => {
		const conversionId = nameOf(route.request().url());
		const known = answers.statuses[conversionId];
		const sizes = known?.status === 'completed' ? { sizeBefore: 1000, sizeAfter: 400 } : {};
		await route.fulfill({ json: { ...waiting, conversionId, fileName: conversionId, ...sizes, ...known } });
	});
	await page.route('**/api/handbrake/cancel/*', async (route) => {
		if (answers.refusesCancel) return route.fulfill({ status: 503, json: refusal(503, 'UNAVAILABLE', 'Not now') });
		const name = nameOf(route.request().url());
		answers.cancelled.push(name);
		answers.statuses[name] = { ...answers.statuses[name], status: 'cancelled' };
		return route.fulfill({ json: { message: 'Cancelled' } });
	});
	return answers;
}

function refusal(statusCode: number, code: string, message: string): object {
	return { statusCode, code, error: code, message };
}

function nameOf(url: string): string {
	return decodeURIComponent(decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? ''));
}

/** A completed job with these changes. */
export function jobOf(changes: Partial<Job>): Job {
	return {
		id: '1',
		kind: 'copy',
		status: 'completed',
		title: 'Copy 3 items to Holiday',
		done: 100,
		total: 100,
		unit: 'percent',
		speed: null,
		timeLeft: null,
		error: null,
		canRetry: false,
		hold: null,
		canCancel: changes.endTime === null,
		detail: null,
		createdAt: Date.now(),
		startTime: Date.now(),
		endTime: Date.now(),
		...changes,
	};
}
