import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { basePath, desktop, phone } from '../support/browser.js';
import { eventually } from '../support/expect.js';
import { overlaysClosed, setUpFixture, withKeptPages } from '../support/fileManager.js';
import { jobOf } from '../support/jobAnswers.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

async function picture(page: Page, name: string): Promise<void> {
	if (process.env.PICTURES === undefined) return;
	await page.screenshot({ path: path.join(process.env.PICTURES, `${name}.png`) });
}

const megabyte = 1024 * 1024;
const ended = { done: 0, total: 0 };
const jobs = [
	jobOf({ id: '1', title: 'Copy 3 items to Holiday', endTime: Date.UTC(2026, 10, 21) }),
	jobOf({
		id: '2',
		kind: 'convert',
		title: 'Convert a holiday with a very long name that does not fit into one line of any dialog.mov',
		unit: 'percent',
		detail: { sizeBefore: 812 * megabyte, sizeAfter: 91 * megabyte },
		endTime: Date.UTC(2026, 10, 20),
	}),
	jobOf({
		id: '3',
		...ended,
		status: 'failed',
		title: 'Convert broken.avi',
		error: 'The video can’t be read: it ends in the middle.',
		canRetry: true,
		endTime: Date.UTC(2026, 10, 19),
	}),
	jobOf({ id: '4', status: 'queued', title: 'Move 2 items to Archive', ...ended, endTime: null }),
	jobOf({
		id: '5',
		status: 'processing',
		title: 'Copy 20,000 items to Backup',
		unit: 'bytes',
		done: 1200 * megabyte,
		total: 4000 * megabyte,
		speed: 88 * megabyte,
		timeLeft: 32,
		endTime: null,
	}),
];

const journey = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	const page = await ada.open('/browser?type=private');
	const shot = (name: string) => picture(page, `activity-${name}-${viewport.width}`);
	let answer = jobs;
	const requests: string[] = [];
	await page.route('**/api/jobs', (route) => route.fulfill({ json: answer }));
	await page.route('**/api/jobs/**', async (route) => {
		const request = route.request();
		requests.push(`${request.method()} ${new URL(request.url()).pathname.slice(basePath.length)}`);
		if (request.method() === 'POST') {
			const queued = jobOf({ ...jobs[2], status: 'queued', error: null, canCancel: true });
			answer = jobs.with(2, queued);
			await route.fulfill({ json: queued });
			return;
		}
		// The next list is empty.
		answer = [];
		await route.fulfill({
			status: 503,
			json: { statusCode: 503, code: 'UNAVAILABLE', error: '', message: 'Not now' },
		});
	});
	await page.reload();
	const button = page.getByRole('button', { name: 'Activity: 2 running' });
	await button.waitFor();
	await shot('button');
	await assertAccessible(t, page, 'button');
	await button.focus();
	await page.keyboard.press('Enter');
	const dialog = page.getByRole('dialog', { name: 'Activity', exact: true });
	await dialog.getByText('1.2 GB of 3.9 GB · 88.0 MB/s · 32s left').waitFor();
	await eventually(
		t,
		async () => (await dialog.getByRole('listitem').allInnerTexts()).map((text) => text.split('\n')[0]?.slice(0, 27)),
		[
			'Copy 20,000 items to Backup',
			'Move 2 items to Archive',
			'Copy 3 items to Holiday',
			'Convert a holiday with a ve',
			'Convert broken.avi',
		],
	);
	await dialog.getByText('812.0 MB → 91.0 MB').waitFor();
	await assertAccessible(t, page, 'jobs');
	await shot('jobs');
	const of = (title: string) => dialog.getByRole('listitem').filter({ hasText: title });
	await of('broken.avi').getByRole('button', { name: 'Retry' }).click();
	await of('broken.avi').getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
	await dialog.getByRole('status').getByText('Convert broken.avi: Queued').waitFor();
	await of('Archive').getByRole('button', { name: 'Cancel' }).click();
	await expectNotice(page, 'Error cancelling', 'Not now');
	t.deepEqual(requests, ['POST /api/jobs/3/retry', 'DELETE /api/jobs/4']);
	await dialog.getByText('Nothing is running').waitFor();
	await dialog.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'empty');
	await shot('empty');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	// The button that opened the dialog was removed.
	await page.getByRole('button', { name: ada.username }).and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Enter');
	await page.getByRole('menuitem', { name: 'Activity' }).click();
	await dialog.waitFor();
	t.deepEqual(ada.faults, []);
};
test.serial('the Activity dialog lists, retries and cancels jobs, on a desktop', journey, desktop);
test.serial('the Activity dialog lists, retries and cancels jobs, on a phone', journey, phone);
