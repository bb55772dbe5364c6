import test from 'ava';
import type { Locator } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { absent, eventually, gone } from '../support/expect.js';
import { overlaysClosed, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { closePreview, measureMainThread, openPreview, recorded } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const film = () =>
	recorded(
		'webm',
		...['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=5:duration=30', '-c:v', 'libvpx', '-b:v', '200k'],
		// With the best quality that is the default, it takes ten times as long.
		...['-deadline', 'realtime', '-cpu-used', '8'],
	);

/** Of the letters from А to я. */
const inWindows1251 = (text: string) =>
	Buffer.from(Array.from(text, (letter) => letter.charCodeAt(0) - (/[А-я]/.test(letter) ? 0x350 : 0)));

test.serial(
	'a film is played by ranges with its subtitles, in full screen too, and resumes at its last position',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, {
			'film.webm': await film(),
			'film.srt': '1\r\n00:00:01,000 --> 00:00:29,500\r\nGrüße\r\n',
			'film.en.vtt': 'WEBVTT\n\n00:01.000 --> 00:29.000\nGreetings\n',
			'film.ru.srt': inWindows1251(
				'1\n00:00:01,000 --> 00:00:29,000\nПривет, как твои дела сегодня?\n \n2\n 00:00:29 ,0 --> 00:00:29 ,50\nПока\n',
			),
			'other.srt': '1\n00:00:01,000 --> 00:00:02,000\nNo\n',
		});
		const page = await app.open('/browser?type=private');
		const ranges: string[] = [];
		page.on('request', (request) => {
			if (request.url().includes('/api/download/film.webm')) ranges.push(request.headers().range ?? 'none');
		});
		const viewer = await openPreview(page, 'film.webm');
		const video = viewer.locator('video');
		await page.waitForFunction(() => (document.querySelector('video')?.readyState ?? 0) >= 1);
		t.false(ranges.includes('none'), 'it is never fetched whole');
		await page.waitForFunction(() => document.querySelector('video')?.textTracks.length === 3);
		const cue = await page.waitForFunction(() => {
			const tracks = [...(document.querySelector('video')?.textTracks ?? [])];
			const cue = tracks.find(({ label }) => label === 'Subtitles')?.cues?.[0] as VTTCue | undefined;
			return cue && [cue.text, cue.startTime, cue.endTime];
		});
		t.deepEqual(await cue.jsonValue(), ['Grüße', 1, 29.5]);
		await assertAccessible(t, page, 'video viewer');

		const full = viewer.getByRole('button', { name: 'Fullscreen' });
		await full.click();
		await page.waitForFunction(() => document.fullscreenElement !== null);
		await page.keyboard.press('Escape');
		await page.waitForFunction(() => document.fullscreenElement === null);
		await eventually(t, () => viewer.isVisible(), true, 'Escape only leaves full screen');

		const shown = () =>
			video.evaluate((element) =>
				[...(element as HTMLVideoElement).textTracks]
					.filter(({ mode }) => mode === 'showing')
					.map(({ label }) => label),
			);
		t.deepEqual(await shown(), ['Subtitles']);
		const subtitles = viewer.getByRole('combobox', { name: 'Subtitles' });
		await subtitles.selectOption('en');
		t.deepEqual(await shown(), ['en']);
		await subtitles.selectOption('ru');
		const russian = await page.waitForFunction(() => {
			const tracks = [...(document.querySelector('video')?.textTracks ?? [])];
			const cues = tracks.find(({ label }) => label === 'ru')?.cues;
			return cues && cues.length > 0 && [...cues].map((cue) => [(cue as VTTCue).text, cue.startTime, cue.endTime]);
		});
		t.deepEqual(await russian.jsonValue(), [
			['Привет, как твои дела сегодня?', 1, 29],
			['Пока', 29, 29.5],
		]);
		await subtitles.selectOption('No subtitles');
		t.deepEqual(await shown(), []);

		await viewer.getByRole('combobox', { name: 'Speed' }).selectOption('2×');
		t.is(await video.evaluate((element) => (element as HTMLVideoElement).playbackRate), 2);
		await page.keyboard.press('m');
		await viewer.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
		const position = viewer.getByRole('slider', { name: 'Position' });
		await position.press('Home');
		await position.press('ArrowRight');
		await position.and(page.locator('[aria-valuetext="0:05 of 0:30"]')).waitFor();
		// The film must not end before it is paused.
		await viewer.getByRole('combobox', { name: 'Speed' }).selectOption('0.5×');
		await viewer.getByRole('button', { name: 'Play', exact: true }).click();
		await viewer.getByRole('button', { name: 'Pause', exact: true }).click();
		await viewer.getByRole('button', { name: 'Play', exact: true }).waitFor();
		await video.evaluate((element) => {
			(element as HTMLVideoElement).currentTime = 12;
		});
		await page.waitForFunction(() => {
			const places: [string, string][] = JSON.parse(localStorage.getItem('stowage.videoPlaces') ?? '[]');
			return places.at(-1)?.[1] === '12';
		});
		// Escape works after the controls were used, too: a browser's own controls would keep the keys.
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await openPreview(page, 'film.webm');
		await page.waitForFunction(() => Math.abs((document.querySelector('video')?.currentTime ?? 0) - 12) < 0.5);
		// Left in the middle of a seek, which never ends as far as the page knows: first by closing the viewer, then by leaving the page.
		for (const [seconds, leave] of [
			[20, () => page.keyboard.press('Escape').then(() => overlaysClosed(page))],
			[24, () => page.reload()],
		] as const) {
			await video.evaluate((element, seconds) => {
				for (const name of ['seeked', 'timeupdate', 'pause']) {
					window.addEventListener(name, (event) => event.stopImmediatePropagation(), true);
				}
				(element as HTMLVideoElement).currentTime = seconds;
			}, seconds);
			await leave();
			await openPreview(page, 'film.webm');
			await page.waitForFunction(
				(seconds) => Math.abs((document.querySelector('video')?.currentTime ?? 0) - seconds) < 0.5,
				seconds,
			);
		}
		t.deepEqual(app.faults, []);
	},
);

test.serial('the first touch on a film in full screen whose controls are hidden only shows them', async (t) => {
	const app = await fixture.enter(t, { hasTouch: true });
	await writeFiles(app.home, { 'film.webm': await film() });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'film.webm');
	await viewer.getByRole('button', { name: 'Play', exact: true }).tap();
	await viewer.getByRole('button', { name: 'Fullscreen' }).tap();
	const pause = viewer.getByRole('button', { name: 'Pause', exact: true });
	const resting = viewer.locator('[data-resting]');
	const video = viewer.locator('video');
	await video.evaluate((element) => {
		element.dataset.pauses = '0';
		element.addEventListener('pause', () => {
			element.dataset.pauses = String(Number(element.dataset.pauses) + 1);
		});
	});
	await page.waitForFunction(() => document.fullscreenElement !== null);
	const box = await pause.boundingBox();
	if (!box) throw new Error('There is no button.');
	for (const [x, y] of [
		[box.x + box.width / 2, box.y + box.height / 2],
		[640, 300],
	] as const) {
		await resting.waitFor();
		await page.touchscreen.tap(x, y);
		await gone(t, resting);
	}
	await page.touchscreen.tap(640, 300);
	await page.waitForFunction(() => document.querySelector('video')?.paused);
	await eventually(t, () => video.getAttribute('data-pauses'), '1');
	t.deepEqual(app.faults, []);
});

test.serial('a film or a song that can’t be played shows an error', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'broken.mp4': 'no film', 'broken.mp3': 'no song' });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'broken.mp4');
	const alert = viewer.getByRole('alert');
	await alert.getByText('Cannot play video', { exact: true }).waitFor();
	await alert.getByText('Failed to load the video file.').waitFor();
	await alert.getByRole('link', { name: 'Download' }).waitFor();
	await assertAccessible(t, page, 'a broken film');
	await closePreview(page);
	await openPreview(page, 'broken.mp3');
	await page.getByText('Failed to load the audio file.').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a song shows its tags and cover, which a worker has read, and Next opens the next song', async (t) => {
	const app = await fixture.enter(t);
	const cover = ['-f', 'lavfi', '-i', 'color=teal:s=80x80:d=1'];
	const sine = ['-f', 'lavfi', '-i', 'sine=frequency=330:duration=120:sample_rate=8000'];
	const tags = [
		'-metadata',
		'title=Evening <b>Light</b>',
		'-metadata',
		'artist=The Testers',
		'-metadata',
		'album=Sines',
	];
	const song = [...sine, ...cover, '-map', '0:a', '-map', '1:v', '-frames:v', '1', '-c:v', 'mjpeg', ...tags];
	await writeFiles(app.home, {
		'one.mp3': await recorded('mp3', ...song, '-disposition:v', 'attached_pic'),
		'two.flac': await recorded('flac', ...sine, '-metadata', 'title=Second'),
		'cover.png': 'no song',
	});
	const page = await app.open('/browser?type=private');
	// Whatever the tags are, their parser does not keep the page busy.
	const workers: string[] = [];
	page.on('worker', (worker) => workers.push(worker.url()));
	const viewer = await openPreview(page, 'one.mp3');
	await viewer.getByText('Evening <b>Light</b>').waitFor();
	await viewer.getByText('The Testers').waitFor();
	await viewer.getByText('Sines').waitFor();
	await viewer.getByRole('img', { name: 'Cover' }).waitFor();
	t.true(workers.some((url) => url.includes('tagsWorker')));
	const box = await viewer.boundingBox();
	t.is(Math.round(box?.width ?? 0), 400);
	await assertAccessible(t, page, 'audio player');
	await viewer.locator('audio').evaluate((audio) => (audio as HTMLAudioElement).pause());
	await viewer.getByRole('button', { name: 'Mute' }).click();
	await viewer.getByRole('combobox', { name: 'Speed' }).selectOption('1.25×');
	await viewer.getByRole('button', { name: 'Next' }).click();
	const second = page.getByRole('dialog', { name: 'two.flac' });
	await second.getByText('Second', { exact: true }).waitFor();
	await second.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
	await eventually(t, () => second.getByRole('combobox', { name: 'Speed' }).inputValue(), '1.25');
	await second.getByRole('button', { name: 'Previous' }).click();
	await page.getByRole('dialog', { name: 'one.mp3' }).waitFor();
	const status = (name: string) => page.getByRole('dialog').getByRole('status').getByText(name, { exact: true });
	await status('one.mp3').waitFor();

	// At its end the next one follows, and takes the place of the button that has the focus.
	await viewer.getByRole('button', { name: /^(Play|Pause)$/ }).focus();
	await page.waitForFunction(() => (document.querySelector('audio')?.readyState ?? 0) >= 1);
	await viewer.locator('audio').evaluate(async (audio: HTMLAudioElement) => {
		audio.currentTime = audio.duration - 0.2;
		await audio.play();
	});
	await status('two.flac').waitFor();
	await page.waitForFunction(() => document.activeElement?.closest('.bp6-overlay') !== null);
	t.deepEqual(app.faults, []);
});

/**
 * Says of the player that its connection was lost, and waits until it is fetched again. The browser itself tries for half
 * a minute before it says so.
 */
const loseConnection = async (player: Locator) => {
	await player.evaluate((element: HTMLMediaElement) => {
		delete element.dataset.fetched;
		element.addEventListener('emptied', () => element.setAttribute('data-fetched', ''), { once: true });
		Object.defineProperty(element, 'error', { value: { code: 2 }, configurable: true });
		element.dispatchEvent(new Event('error'));
		Reflect.deleteProperty(element, 'error');
	});
	await player.and(player.page().locator('[data-fetched]')).waitFor({ state: 'attached' });
};

test.serial(
	'a film or song that loses its connection goes on where it stopped, or says so and can be tried again',
	async (t) => {
		const app = await fixture.enter(t);
		const sine = ['-f', 'lavfi', '-i', 'sine=frequency=330:duration=120:sample_rate=8000'];
		await writeFiles(app.home, { 'film.webm': await film(), 'song.mp3': await recorded('mp3', ...sine) });
		const page = await app.open('/browser?type=private');
		// Its pauses of some seconds are shorter here.
		await page.evaluate(() => {
			const { setTimeout } = globalThis;
			const sooner = (run: () => void, ms = 0) => setTimeout(run, ms < 1000 ? ms : ms / 20);
			globalThis.setTimeout = sooner as typeof globalThis.setTimeout;
		});
		for (const [name, tag] of [
			['film.webm', 'video'],
			['song.mp3', 'audio'],
		] as const) {
			const viewer = await openPreview(page, name);
			const player = viewer.locator(tag);
			const isAt = (seconds: number) =>
				page.waitForFunction(
					([tag, seconds]) => {
						const { currentTime = 0, seeking = true } = document.querySelector<HTMLMediaElement>(tag) ?? {};
						// The connection counts as restored once it has moved there.
						return !seeking && Math.abs(currentTime - seconds) < 0.5;
					},
					[tag, seconds] as const,
				);
			await page.waitForFunction((tag) => (document.querySelector<HTMLMediaElement>(tag)?.readyState ?? 0) >= 1, tag);
			await player.evaluate((element: HTMLMediaElement) => {
				element.pause();
				element.currentTime = 20;
			});
			await isAt(20);
			await loseConnection(player);
			await isAt(20);
			await absent(t, viewer.getByRole('alert'));

			await page.route(`**/api/download/${name}*`, (route) => route.abort());
			await loseConnection(player);
			await viewer.getByRole('alert').getByText('Connection lost', { exact: true }).waitFor();
			await absent(t, viewer.getByText('Failed to load'));
			await assertAccessible(t, page, 'a lost connection');
			await page.unroute(`**/api/download/${name}*`);
			await viewer.getByRole('button', { name: 'Try Again' }).click();
			await isAt(20);
			await gone(t, viewer.getByRole('alert'));
			await viewer.getByRole('button', { name: 'Play', exact: true }).waitFor();
			await closePreview(page);
		}
		// The browser logs each file that it could not load.
		t.deepEqual(
			app.faults.filter((fault) => !fault.includes('ERR_FAILED')),
			[],
		);
	},
);

test.serial('a song or film with endless tags or samples is not played, and nothing reads them', async (t) => {
	const app = await fixture.enter(t);
	// Each has another name than all before it, with which a browser compares it.
	const texts = Array.from({ length: 60_000 }, (_, n) => `\0${n.toString(36).padStart(4, '0')}\0a`);
	const frames = texts.map((text) => `TXXX\0\0\0${String.fromCharCode(text.length)}\0\0${text}`).join('');
	const length = [21, 14, 7, 0].map((bits) => String.fromCharCode((frames.length >> bits) & 127)).join('');
	const tags = Buffer.from(`ID3\x03\0\0${length}${frames}`, 'latin1');
	const box = (name: string, content: string | Buffer) => {
		const head = Buffer.alloc(8, name.padStart(8), 'latin1');
		head.writeUInt32BE(8 + content.length);
		return Buffer.concat([head, Buffer.from(content as string)]);
	};
	const items = Buffer.concat(texts.map((text) => box(`\xa9${text.slice(2, 5)}`, 'text')));
	// 80 million of a byte each, of which the browser would make a list of 3 GB.
	const samples = box('mdia', box('minf', box('stbl', box('stsz', '\0\0\0\0\0\0\0\x01\x05\0\0\0'))));
	const sine = ['-f', 'lavfi', '-i', 'sine=frequency=330:duration=1:sample_rate=8000'];
	await writeFiles(app.home, {
		'song.mp3': Buffer.concat([tags, await recorded('mp3', ...sine)]),
		'film.mp4': Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), box('moov', box('udta', items))]),
		'endless.m4a': Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), box('moov', box('trak', samples))]),
	});
	const page = await app.open('/browser?type=private');
	const workers: string[] = [];
	page.on('worker', (worker) => workers.push(worker.url()));
	for (const [name, title] of [
		['song.mp3', 'Cannot play audio'],
		['film.mp4', 'Cannot play video'],
		['endless.m4a', 'Cannot play audio'],
	] as const) {
		const viewer = await openPreview(page, name);
		const alert = viewer.getByRole('alert');
		await alert.getByText(title, { exact: true }).waitFor();
		await alert.getByText('It has more tags or parts than a song or a film has.').waitFor();
		await absent(t, viewer.locator('audio, video'));
		await closePreview(page);
	}
	t.deepEqual(
		workers.filter((url) => url.includes('tagsWorker')),
		[],
	);
	t.deepEqual(app.faults, []);
});

test.serial('a film whose pictures are larger than any screen is refused', async (t) => {
	const app = await fixture.enter(t);
	const source = 'testsrc2=size=320x260:rate=5:duration=2';
	const bytes = await recorded('webm', ...['-f', 'lavfi', '-i', source, '-c:v', 'libvpx', '-b:v', '100k']);
	// As its header says; what it has is smaller, and would be played.
	for (const [id, size] of [
		[0xb0, 320],
		[0xba, 260],
	] as const) {
		const at = bytes.indexOf(Buffer.from([id, 0x82, size >> 8, size & 255]));
		t.true(at > 0);
		bytes.writeUInt16BE(16_000, at + 2);
	}
	await writeFiles(app.home, { 'wide.webm': bytes });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'wide.webm');
	await viewer.getByRole('alert').getByText('Cannot play video', { exact: true }).waitFor();
	await absent(t, viewer.locator('video'));
	await closePreview(page);
	t.deepEqual(app.faults, []);
});

test.serial('a drawing in the styles of subtitles is not drawn', async (t) => {
	const app = await fixture.enter(t);
	const groups = 'bcdefghijklm'
		.split('')
		.map((id, before) => `<g id='${id}'>${`<use href='%23${'abcdefghijkl'.charAt(before)}'/>`.repeat(3)}</g>`);
	const drawing = `<svg xmlns='http://www.w3.org/2000/svg'><path id='a' d='M0 0h9v9z'/>${groups.join('')}</svg>`;
	const style = `STYLE\n::cue{color:red;background:url("data:image/svg+xml,${drawing}")}`;
	await writeFiles(app.home, {
		'film.webm': await film(),
		'film.vtt': `WEBVTT\n\n${style}\n\n00:00.000 --> 00:29.000\nGreetings\n`,
	});
	const page = await app.open('/browser?type=private');
	const work = await measureMainThread(page);
	const viewer = await openPreview(page, 'film.webm');
	await viewer.getByRole('button', { name: 'Play', exact: true }).click();
	await page.waitForFunction(() => document.querySelector('video')?.textTracks[0]?.activeCues?.length === 1);
	// Until it is drawn.
	await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 500))));
	const workMs = await work();
	t.log(`${workMs} ms`);
	t.true(workMs < 4000, `${workMs} ms`);
	await closePreview(page);
	t.deepEqual(app.faults, []);
});
