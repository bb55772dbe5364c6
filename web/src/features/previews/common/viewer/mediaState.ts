import { type RefObject, useEffect, useState } from 'react';

export interface MediaState {
	isPlaying: boolean;
	/** Whether it plays but waits for data. */
	isWaiting: boolean;
	/** Seconds. */
	time: number;
	/** Seconds; undefined while it is unknown, or without end. */
	duration: number | undefined;
	volume: number;
	isMuted: boolean;
	rate: number;
}

const events = [
	'play',
	'playing',
	'pause',
	'ended',
	'waiting',
	'canplay',
	'timeupdate',
	'seeking',
	'seeked',
	'durationchange',
	'loadedmetadata',
	'volumechange',
	'ratechange',
	'emptied',
] as const;

/** The playback state of a film or a song. */
export function useMediaState(element: RefObject<HTMLMediaElement | null>): MediaState {
	const [state, setState] = useState<MediaState>(stopped);
	useEffect(() => {
		const { current } = element;
		if (!current) return;
		const update = () => setState(stateOf(current));
		update();
		for (const event of events) current.addEventListener(event, update);
		return () => {
			for (const event of events) current.removeEventListener(event, update);
		};
	}, [element]);
	return state;
}

const stopped: MediaState = {
	isPlaying: false,
	isWaiting: false,
	time: 0,
	duration: undefined,
	volume: 1,
	isMuted: false,
	rate: 1,
};

function stateOf(media: HTMLMediaElement): MediaState {
	const { paused, ended, currentTime, duration, volume, muted, playbackRate, readyState } = media;
	return {
		isPlaying: !paused && !ended,
		isWaiting: !paused && readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
		time: currentTime,
		duration: Number.isFinite(duration) && duration > 0 ? duration : undefined,
		volume,
		isMuted: muted,
		rate: playbackRate,
	};
}

export function togglePlay(media: HTMLMediaElement | null): void {
	if (!media) return;
	if (!media.paused && !media.ended) media.pause();
	// An unplayable file is reported by an event of its own.
	else void media.play().catch(() => {});
}

export function seekBy(media: HTMLMediaElement | null, seconds: number): void {
	if (media) media.currentTime = Math.max(0, Math.min(media.duration || 0, media.currentTime + seconds));
}

/** A time such as `1:02:09` or `0:07`. */
export function formatClock(seconds: number): string {
	const whole = Math.floor(seconds);
	const two = (value: number) => String(value).padStart(2, '0');
	const minutes = Math.floor(whole / 60) % 60;
	const hours = Math.floor(whole / 3600);
	return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
