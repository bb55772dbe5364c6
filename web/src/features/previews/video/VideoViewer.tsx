import { Button } from '@blueprintjs/core';
import { FullscreenIcon, MinimizeIcon } from '@blueprintjs/icons';
import type { Area, Entry } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { capabilitiesQuery } from '../../../api/capabilities.js';
import { downloadUrl } from '../../../api/downloads.js';
import { readWhole } from '../../../api/previews.js';
import { createPlaces } from '../common/places.js';
import { useFailedAnswer } from '../common/useFailedAnswer.js';
import { useKeys } from '../common/useKeys.js';
import { ViewerError } from '../common/ViewerError.js';
import { ViewerLoading } from '../common/ViewerLoading.js';
import type { ViewerProps } from '../common/ViewerProps.js';
import viewerStyles from '../common/viewers.module.css';
import { previewMessages as messages } from '../messages.js';
import { decodeSubtitles, maxSubtitleBytes, subtitlesOf, toVtt } from './subtitles.js';
import styles from './VideoViewer.module.css';

const places = createPlaces('stowage.videoPlaces');

/** Nobody means to go on from the very beginning or end. */
const edgeSeconds = 2;
const keyStep = 5;

/** Plays by ranges, from where it was stopped. */
export function VideoViewer({ area, file, entry, entries }: ViewerProps) {
	const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
	const stage = useRef<HTMLDivElement>(null);
	const video = useRef<HTMLVideoElement>(null);
	const { isFull, toggle } = useFullscreen(stage);
	const subtitles = useSubtitles(area, entry, entries);
	const noted = useRef(0);
	const { data: capabilities } = useQuery(capabilitiesQuery);
	const answer = useFailedAnswer(file.url, state === 'failed');

	function begin(target: HTMLVideoElement) {
		const place = Number(places.read(file.id) ?? 0);
		if (place > 0 && place < target.duration) target.currentTime = place;
		setState('loaded');
	}

	// An element begins to load before it is part of the page, and what it tells until then is heard by nobody.
	// biome-ignore lint/correctness/useExhaustiveDependencies: only what happened before
	useEffect(() => {
		const { current } = video;
		if (current?.error) setState('failed');
		else if (current && current.readyState > 0) begin(current);
	}, []);

	useKeys(({ key }) => {
		const { current } = video;
		// The element has keys of its own.
		if (!current || current === document.activeElement) return key === 'f' && toggle();
		if (key === ' ' || key === 'k') void (current.paused ? current.play() : current.pause());
		else if (key === 'ArrowLeft') current.currentTime -= keyStep;
		else if (key === 'ArrowRight') current.currentTime += keyStep;
		else if (key === 'f') toggle();
		else return false;
		return true;
	});

	function note(target: HTMLVideoElement) {
		const { currentTime, duration } = target;
		if (!Number.isFinite(duration)) return;
		noted.current = currentTime;
		if (currentTime < edgeSeconds || currentTime > duration - edgeSeconds) places.forget(file.id);
		else places.write(file.id, String(currentTime));
	}

	if (state === 'failed') {
		const [title, text] = messages.failures.video;
		return <ViewerError file={file} title={title} text={text} reason={answer} />;
	}
	return (
		<div ref={stage} className={styles.viewer}>
			<div className={styles.stage}>
				{state === 'loading' && <ViewerLoading />}
				{/* biome-ignore lint/a11y/useMediaCaption: a film has those that lie beside it */}
				<video
					ref={video}
					className={styles.video}
					src={file.url}
					poster={capabilities?.thumbnails ? file.renditionUrl : undefined}
					aria-label={file.name}
					controls
					controlsList="nofullscreen nodownload"
					playsInline
					preload="metadata"
					data-state={state}
					onLoadedMetadata={({ currentTarget }) => begin(currentTarget)}
					onTimeUpdate={({ currentTarget }) => {
						if (Math.abs(currentTarget.currentTime - noted.current) >= keyStep) note(currentTarget);
					}}
					onPause={({ currentTarget }) => note(currentTarget)}
					onSeeked={({ currentTarget }) => note(currentTarget)}
					onError={() => setState('failed')}
				>
					{subtitles.map(({ url, label }, index) => (
						<track
							key={url}
							kind="subtitles"
							src={url}
							label={label === '' ? messages.subtitles : label}
							srcLang={/^[a-z]{2,3}(-\w+)?$/i.test(label) ? label : 'und'}
							default={index === 0}
						/>
					))}
				</video>
			</div>
			<div className={viewerStyles.bar}>
				<Button
					variant="minimal"
					icon={isFull ? <MinimizeIcon /> : <FullscreenIcon />}
					text={messages.fullscreen}
					aria-pressed={isFull}
					onClick={toggle}
				/>
			</div>
		</div>
	);
}

function useFullscreen(element: { current: HTMLElement | null }) {
	const [isFull, setFull] = useState(false);
	useEffect(() => {
		const listen = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === element.current);
		document.addEventListener('fullscreenchange', listen);
		return () => document.removeEventListener('fullscreenchange', listen);
	}, [element]);
	return {
		isFull,
		toggle(): boolean {
			// A browser that does not let it leaves everything as it was.
			const change = document.fullscreenElement ? document.exitFullscreen() : element.current?.requestFullscreen();
			change?.catch(() => {});
			return true;
		},
	};
}

/** The subtitles beside the film, as addresses of this page. */
function useSubtitles(area: Area, film: Entry, entries: readonly Entry[]): { url: string; label: string }[] {
	const [tracks, setTracks] = useState<{ url: string; label: string }[]>([]);
	// The list is read again now and then while the film plays; its subtitles stay.
	const found = useRef(subtitlesOf(film, entries));
	useEffect(() => {
		const abort = new AbortController();
		const urls: string[] = [];
		const load = async () => {
			const loaded: { url: string; label: string }[] = [];
			for (const { entry, label } of found.current) {
				try {
					const bytes = await readWhole(downloadUrl(area, entry), maxSubtitleBytes, abort.signal);
					const url = URL.createObjectURL(new Blob([toVtt(decodeSubtitles(bytes))], { type: 'text/vtt' }));
					urls.push(url);
					loaded.push({ url, label });
				} catch {
					// The film is shown without them.
				}
			}
			if (!abort.signal.aborted) setTracks(loaded);
		};
		void load();
		return () => {
			abort.abort();
			for (const url of urls) URL.revokeObjectURL(url);
		};
	}, [area]);
	return tracks;
}
