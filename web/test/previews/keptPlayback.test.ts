import test from 'ava';
import { keepPlayback, type PlayedElement } from '../../src/features/previews/common/viewer/keptPlayback.js';

const newElement = () =>
	Object.assign(new EventTarget(), {
		volume: 1,
		muted: false,
		playbackRate: 1,
		defaultPlaybackRate: 1,
	}) as EventTarget & PlayedElement;

test('the next song or film is as loud and as fast as the one before, and starts so again after a lost connection', (t) => {
	const first = newElement();
	const end = keepPlayback(first);
	Object.assign(first, { volume: 0.25, muted: true });
	first.dispatchEvent(new Event('volumechange'));
	first.playbackRate = 1.5;
	first.dispatchEvent(new Event('ratechange'));
	t.is(first.defaultPlaybackRate, 1.5);
	end();
	// It has left the page.
	first.muted = false;
	first.dispatchEvent(new Event('volumechange'));

	const next = newElement();
	keepPlayback(next);
	const { volume, muted, playbackRate, defaultPlaybackRate } = next;
	t.deepEqual([volume, muted, playbackRate, defaultPlaybackRate], [0.25, true, 1.5, 1.5]);
});
