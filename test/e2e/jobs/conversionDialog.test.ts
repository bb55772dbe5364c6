import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { isLong } from '../../long.js';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import { fadedOut, holdRequest, overlaysClosed, rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';
import { mouse } from '../support/inputMethods.js';
import { answerConversions, jobOf } from '../support/jobAnswers.js';
import { expectNotice } from '../support/notices.js';

const fixture = setUpFixture(test);

async function picture(page: Page, name: string): Promise<void> {
	if (process.env.PICTURES === undefined) return;
	await page.screenshot({ path: path.join(process.env.PICTURES, `${name}.png`) });
}

const videos = {
	'a holiday with a very long name that does not fit into one line of any dialog.mov': 'x',
	'b.mp4': 'x',
	'c.mkv': 'x',
	'd.avi': 'x',
	'e.webm': 'x',
	'notes.txt': 'x',
};
const [long] = Object.keys(videos);

const journey = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	await writeFiles(ada.home, Object.fromEntries(Object.entries(videos).map(([name, text]) => [`films/${name}`, text])));
	const page = await ada.open('/browser/films?type=private');
	const shot = (name: string) => picture(page, `${name}-${viewport.width}`);
	const server = await answerConversions(page);
	const running = { status: 'processing' as const, progress: 41.7, currentFps: 61.312, averageFps: 94.4, eta: '1m2s' };
	server.statuses = { [long as string]: running };
	server.refused = { 'd.avi': 'File is not a video', 'e.webm': '' };

	await rowOf(page, 'notes.txt').focus();
	await page.keyboard.press('Control+A');
	await page.keyboard.press('F8');
	const setup = page.getByRole('dialog', { name: 'Convert 5 Videos', exact: true });
	await setup.getByRole('radio', { name: 'MP4' }).and(page.locator(':focus')).waitFor();
	await setup.getByText('Setup').waitFor();
	await setup.getByText('b_converted.mp4').waitFor();
	await setup.getByText('... and 2 more files').waitFor();
	await setup.getByText('Good Quality (Medium Files)').waitFor();
	await assertAccessible(t, page, 'setup');
	await shot('setup');
	// By keyboard alone.
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await eventually(t, () => setup.getByRole('radio', { name: 'WebM VP9, smaller; drops subtitles' }).isChecked(), true);
	await page.keyboard.press('Tab');
	for (let quality = 28; quality < 35; quality++) await page.keyboard.press('ArrowRight');
	await setup.getByText('Maximum Quality (Very Large Files)').waitFor();
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Space');
	await setup.getByText('b.webm').waitFor();
	await page.keyboard.press('Enter');
	const dialog = page.getByRole('dialog', { name: 'Video Conversion', exact: true });
	await dialog.getByRole('alert').filter({ hasText: 'Some conversions failed to start:' }).waitFor();
	await eventually(t, () => dialog.getByRole('alert').getByRole('listitem').allTextContents(), [
		'd.avi: File is not a video',
		'e.webm: Error starting conversion',
	]);
	t.deepEqual(server.requests[1], {
		filePath: 'films/b.mp4',
		outputFormat: 'webm',
		quality: 18,
		deleteOriginal: true,
		type: 'private',
	});

	await dialog.getByText('61.3 fps · 94.4 fps on average · ETA 1m2s').waitFor();
	await dialog.getByText('Processing').waitFor();
	await dialog.getByText('0 of 3 videos done').waitFor();
	await eventually(t, () => dialog.getByRole('progressbar', { name: long }).getAttribute('aria-valuenow'), '42');
	await dialog.getByRole('button', { name: 'Continue in background' }).and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'running');
	await shot('running');
	await page.keyboard.press('Escape');
	await dialog.getByRole('button', { name: 'Close' }).click();
	const question = page.getByRole('alertdialog', { name: 'Cancel Conversions' });
	await question.getByText('Conversions are in progress. Are you sure you want to cancel?').waitFor();
	await assertAccessible(t, page, 'question');
	await shot('question');
	await question.getByRole('button', { name: 'Continue' }).click();
	await question.waitFor({ state: 'detached' });
	t.deepEqual(ada.faults, []);
	// The rest is the same on a phone.
	if (viewport === phone) return;

	// One has completed: the folder is fetched again until its file is listed.
	await rename(path.join(ada.home, 'films/b.mp4'), path.join(ada.home, 'films/b.webm'));
	server.statuses['b.mp4'] = { status: 'completed', progress: 100, outputPath: 'films/b (1).webm' };
	await dialog.getByText('Saved as b (1).webm · 1000 B → 400 B').waitFor();
	await writeFile(path.join(ada.home, 'films/b (1).webm'), 'x');
	server.refusesCancel = true;
	await dialog.getByRole('button', { name: 'Cancel Conversions' }).click();
	await question.getByRole('button', { name: 'Cancel Conversions' }).click();
	await dialog.getByRole('alert').filter({ hasText: 'Error cancelling conversions' }).getByText('Not now').waitFor();
	server.refusesCancel = false;
	server.statuses['c.mkv'] = { status: 'failed', error: 'The source is broken.' };
	await dialog.getByText('The source is broken.').waitFor();
	await dialog.getByRole('button', { name: 'Cancel Conversions' }).click();
	await question.getByRole('button', { name: 'Cancel Conversions' }).click();
	await dialog.getByText('Some conversions failed. Check individual file status below.').waitFor();
	t.deepEqual(server.cancelled, [long]);
	await dialog.getByText('Some conversions failed to start:').waitFor();
	await absent(t, dialog.getByText('Error cancelling conversions'));
	await dialog.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'failed');
	await shot('failed');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.getByRole('grid', { name: 'Files' }).locator(':focus').waitFor();
	await rowOf(page, 'b (1).webm').waitFor();
	t.deepEqual(ada.faults, []);
};
test.serial(
	'the conversion dialog starts, shows, cancels and reports conversions by keyboard, on a desktop',
	journey,
	desktop,
);
if (isLong) test.serial('the conversion dialog starts and shows conversions by keyboard, on a phone', journey, phone);

test.serial('a click beside the conversion dialog closes it only while nothing was chosen in it', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'b.mp4': 'x' });
	const page = await ada.open('/browser?type=private');
	await answerConversions(page);
	const dialog = page.getByRole('dialog', { name: 'Convert 1 Video', exact: true });
	const beside = () => page.mouse.click(5, 400);
	const open = async () => {
		await rowOf(page, 'b.mp4').focus();
		await page.keyboard.press('Control+A');
		await page.keyboard.press('F8');
		await dialog.getByRole('radio', { name: 'MP4' }).and(page.locator(':focus')).waitFor();
	};
	await open();
	await beside();
	await gone(t, dialog);
	await open();
	await page.keyboard.press('Tab');
	await page.keyboard.press('ArrowRight');
	await beside();
	await fadedOut();
	await eventually(t, () => dialog.getByRole('slider').getAttribute('aria-valuenow'), '29');
	await page.keyboard.press('Escape');
	await gone(t, dialog);
	await open();
	await dialog.getByRole('checkbox').check({ force: true });
	await beside();
	await fadedOut();
	await eventually(t, () => dialog.getByRole('checkbox').isChecked(), true);
	t.deepEqual(ada.faults, []);
});

test.serial('the conversion dialog reports the outcome or the failed start in one sentence', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.mov': 'x', 'b.mov': 'x' });
	const page = await ada.open('/browser?type=private');
	const server = await answerConversions(page);
	const convert = async (title: string) => {
		await page.getByRole('menuitem', { name: 'Convert Video' }).click();
		const setup = page.getByRole('dialog', { name: title, exact: true });
		await setup.getByRole('button', { name: 'Start Conversion' }).click();
		return page.getByRole('dialog', { name: 'Video Conversion', exact: true });
	};
	server.statuses['a.mov'] = { status: 'completed', progress: 100, outputPath: 'a.mov' };
	await rowOf(page, 'a.mov').click({ button: 'right' });
	let dialog = await convert('Convert 1 Video');
	await dialog.getByText('All conversions completed successfully! The converted files have been saved.').waitFor();
	await picture(page, 'completed-1280');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);

	await rowOf(page, 'b.mov').click({ button: 'right' });
	dialog = await convert('Convert 1 Video');
	await dialog.getByRole('button', { name: 'Cancel Conversions' }).click();
	const question = page.getByRole('alertdialog', { name: 'Cancel Conversions' });
	await question.getByRole('button', { name: 'Continue' }).and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await dialog.getByText('Conversions were cancelled.').waitFor();
	await picture(page, 'cancelled-1280');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	t.deepEqual(server.cancelled, ['b.mov']);

	// No conversion can be started now.
	await rowOf(page, 'b.mov').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Convert Video' }).click();
	const setup = page.getByRole('dialog', { name: 'Convert 1 Video', exact: true });
	await setup.waitFor();
	server.available = false;
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	await setup.getByRole('alert').filter({ hasText: 'HandBrake CLI is not available' }).waitFor();
	await page.unroute('**/api/handbrake/check');
	await page.route('**/api/handbrake/check', (route) => route.abort());
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	await setup.getByRole('alert').filter({ hasText: 'Error starting video conversions' }).waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	t.deepEqual(ada.faults, []);
});

test.serial('the conversion dialog can be left while it starts, and what failed then is told', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.mov': 'x', 'b.mov': 'x' });
	const page = await ada.open('/browser?type=private');
	const server = await answerConversions(page);
	server.refused = { 'b.mov': 'File is not a video' };
	const ended = jobOf({ id: 'a.mov', kind: 'convert', title: 'Convert a.mov to MP4' });
	await page.route('**/api/jobs/a.mov', (route) => route.fulfill({ json: ended }));
	const release = await holdRequest(page, '**/api/handbrake/convert');
	await rowOf(page, 'a.mov').focus();
	await page.keyboard.press('Control+A');
	await page.keyboard.press('F8');
	const setup = page.getByRole('dialog', { name: 'Convert 2 Videos', exact: true });
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	await setup.getByText('Starting', { exact: true }).waitFor();
	await page.keyboard.press('Escape');
	await setup.getByRole('button', { name: 'Continue in background' }).click();
	await overlaysClosed(page);
	release();
	await expectNotice(page, 'Some conversions failed to start:', 'b.mov: File is not a video');
	await expectNotice(page, 'All conversions completed successfully!');
	t.is(server.requests.length, 2);
	t.deepEqual(ada.faults, []);
});

test.serial('what asks for a conversion goes with its folder, and what follows one stays in any', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'film.mov': 'x', 'other.mov': 'x', 'Public/film.mov': 'x' });
	const page = await ada.open('/browser?type=public');
	const server = await answerConversions(page);
	await mouse.toArea(page, 'private');
	const setup = page.getByRole('dialog', { name: 'Convert 1 Video', exact: true });
	const ask = async () => {
		await rowOf(page, 'film.mov').click({ modifiers: ['Control'] });
		await page.keyboard.press('F8');
		await setup.getByRole('button', { name: 'Start Conversion' }).waitFor();
	};
	const back = async () => {
		await page.goBack();
		await page.waitForURL('**/browser?type=public');
		await gone(t, setup);
		await page.goForward();
		await rowOf(page, 'other.mov').waitFor();
	};
	await rowOf(page, 'other.mov').waitFor();
	await ask();
	await back();
	await absent(t, setup);

	// Also after an attempt to start it.
	await page.keyboard.press('Escape');
	await ask();
	server.available = false;
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	await setup.getByRole('alert').filter({ hasText: 'HandBrake CLI is not available' }).waitFor();
	await back();
	await absent(t, setup);
	server.available = true;

	// The answer to whether videos can be converted comes in another folder, where the next dialog is that of its own video.
	const release = await holdRequest(page, '**/api/handbrake/check');
	await page.keyboard.press('Control+A');
	const checked = page.waitForResponse('**/api/handbrake/check');
	await page.keyboard.press('F8');
	await mouse.toArea(page, 'public');
	await gone(t, rowOf(page, 'other.mov'));
	release();
	await checked;
	await ask();
	await setup.getByText('Delete original file after conversion').click();
	await setup.getByRole('button', { name: 'Start Conversion' }).click();
	const dialog = page.getByRole('dialog', { name: 'Video Conversion', exact: true });
	await dialog.getByText('film.mov').waitFor();
	await page.goBack();
	await rowOf(page, 'other.mov').waitFor();
	await dialog.getByRole('button', { name: 'Continue in background' }).click();
	await overlaysClosed(page);
	const expected = { filePath: 'film.mov', deleteOriginal: true, type: 'public' };
	t.like(server.requests, [expected]);
	t.deepEqual(ada.faults, []);
});

test.serial(
	'a notice explains why a file can’t be converted: without HandBrake, or because it is no video',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'a.mov': 'x', 'b.txt': 'x', 'c.txt': 'x' });
		const page = await ada.open('/browser?type=private');
		const server = await answerConversions(page);
		server.available = false;
		await rowOf(page, 'a.mov').click({ button: 'right' });
		await page.getByRole('menuitem', { name: 'Convert Video' }).click();
		await expectNotice(
			page,
			'HandBrake CLI is required for video conversion. Please install it and restart the server.',
		);
		await page.keyboard.press('F8');
		await expectNotice(page, 'HandBrake CLI is required');
		await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('F8');
		await expectNotice(page, 'HandBrake CLI is required');
		await page.keyboard.press('Escape');
		await page.keyboard.press('F8');
		await expectNotice(page, 'File is not a video');
		await page.keyboard.press('Space');
		await rowOf(page, 'c.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('F8');
		await expectNotice(page, 'No video files selected');
		await absent(t, page.getByRole('dialog'));
		t.deepEqual(ada.faults, []);
	},
);
