import { Button, HTMLSelect, Spinner } from '@blueprintjs/core';
import { FullscreenIcon, MinimizeIcon, PlayIcon } from '@blueprintjs/icons';
import type { Entry } from '@stowage/rules';
import { shownName } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { capabilitiesQuery } from '../../../api/capabilities.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { useLatest } from '../../../ui/useLatest.js';
import { maxPixels } from '../common/images/pixels.js';
import { BoundedTags } from '../common/tagCount/BoundedTags.js';
import { ConnectionLost } from '../common/viewer/ConnectionLost.js';
import { keyStep, MediaControls } from '../common/viewer/MediaControls.js';
import { seekBy, togglePlay, useMediaState } from '../common/viewer/mediaState.js';
import { createSavedPositions } from '../common/viewer/savedPositions.js';
import { useFailureReason } from '../common/viewer/useFailureReason.js';
import { useKeys } from '../common/viewer/useKeys.js';
import { useReconnection } from '../common/viewer/useReconnection.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';
import { detectEncoding } from '../text/detectEncoding.js';
import { loadSubtitles } from './loadSubtitles.js';
import { subtitlesOf } from './subtitles.js';
import styles from './VideoViewer.module.css';

const positions = createSavedPositions('stowage.videoPlaces');

/** A position near the beginning or the end is not resumed. */
const edgeSeconds = 2;
/** After this time without mouse movement the controls are hidden in full screen. */
const idleMs = 2500;

/** Plays a film unless it has tags that a browser reads without end. */
export function VideoViewer(props: ViewerProps) {
	return (
		<BoundedTags file={props.file} title={messages.failures.video[0]}>
			<VideoPlayer {...props} />
		</BoundedTags>
	);
}

/** Plays by range requests, from the last position. */
function VideoPlayer({ file, entry, entries }: ViewerProps) {
	const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
	const stage = useRef<HTMLDivElement>(null);
	const video = useRef<HTMLVideoElement>(null);
	const { isFull, toggle } = useFullscreen(stage, video);
	const { isPlaying, isWaiting, time } = useMediaState(video);
	const { isIdle, onActivity } = useIdle(isFull && isPlaying);
	/** Whether the present touch, or the last one, began while the controls were hidden: it only shows them. */
	const isRevealing = useRef(false);
	const subtitles = useSubtitles(entry, entries);
	const savedTime = useRef(0);
	const { connection, reconnection } = useReconnection();
	useOnLeave(video, state === 'loaded' ? savePlace : () => {});
	const { data: capabilities } = useQuery(capabilitiesQuery);
	const answer = useFailureReason(file.url, state === 'failed');

	/** Refuses a film with very large pictures, of which its decoder keeps several: at 16,000 by 16,000 pixels they take gigabytes. */
	function refuseLarge(target: HTMLVideoElement): boolean {
		if (target.videoWidth * target.videoHeight <= maxPixels) return false;
		// Else it decodes until the element that has left the page is collected.
		target.removeAttribute('src');
		target.load();
		setState('failed');
		return true;
	}

	function begin(target: HTMLVideoElement) {
		if (refuseLarge(target)) return;
		const place = Number(positions.read(file.id) ?? 0);
		if (!reconnection.resume(target) && place > 0 && place < target.duration) target.currentTime = place;
		setState('loaded');
	}

	function fail(target: HTMLVideoElement) {
		if (!reconnection.takeError(target)) setState('failed');
	}

	// An element begins to load before it is part of the page: its events until then reach no listener.
	// biome-ignore lint/correctness/useExhaustiveDependencies: only what happened before
	useEffect(() => {
		const { current } = video;
		if (current?.error) fail(current);
		else if (current && current.readyState > 0) begin(current);
	}, []);

	useKeys(({ key }) => {
		onActivity();
		if (key === ' ' || key === 'k') togglePlay(video.current);
		else if (key === 'ArrowLeft') seekBy(video.current, -keyStep);
		else if (key === 'ArrowRight') seekBy(video.current, keyStep);
		else if (key === 'm' && video.current) video.current.muted = !video.current.muted;
		else if (key === 'f') toggle();
		else return false;
		return true;
	});

	function savePlace(target: HTMLVideoElement) {
		const { currentTime, duration } = target;
		if (!Number.isFinite(duration)) return;
		savedTime.current = currentTime;
		if (currentTime < edgeSeconds || currentTime > duration - edgeSeconds) positions.remove(file.id);
		else positions.write(file.id, String(currentTime));
	}

	if (state === 'failed') {
		const [title, text] = messages.failures.video;
		return <ViewerError file={file} title={title} text={text} reason={answer} />;
	}
	return (
		<div
			ref={stage}
			className={styles.viewer}
			data-resting={isIdle || undefined}
			data-connection={connection}
			onPointerMove={onActivity}
			onPointerDown={({ pointerType }) => {
				isRevealing.current = isIdle && pointerType === 'touch';
				onActivity();
			}}
			onClickCapture={(event) => {
				// A key's click has no number. The browser looks for what a finger clicks once the controls are there.
				if (isRevealing.current && event.detail > 0) event.stopPropagation();
			}}
		>
			{connection === 'lost' && <ConnectionLost file={file} onRetry={() => reconnection.tryAgain()} />}
			<div className={styles.stage}>
				{state === 'loading' && <ViewerLoading />}
				{/* biome-ignore lint/a11y/useMediaCaption: a film has those that lie beside it */}
				<video
					ref={video}
					className={styles.video}
					src={file.url}
					poster={capabilities?.thumbnails ? file.renditionUrl : undefined}
					aria-label={shownName(file.name)}
					playsInline
					preload="metadata"
					data-state={state}
					onClick={({ currentTarget }) => togglePlay(currentTarget)}
					onDoubleClick={toggle}
					onLoadedMetadata={({ currentTarget }) => begin(currentTarget)}
					onResize={({ currentTarget }) => refuseLarge(currentTarget)}
					onTimeUpdate={({ currentTarget }) => {
						if (Math.abs(currentTarget.currentTime - savedTime.current) >= keyStep) savePlace(currentTarget);
					}}
					onPause={({ currentTarget }) => savePlace(currentTarget)}
					onSeeked={({ currentTarget }) => {
						reconnection.settle();
						savePlace(currentTarget);
					}}
					onError={({ currentTarget }) => fail(currentTarget)}
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
				{state === 'loaded' && connection === 'connected' && !isPlaying && time === 0 && (
					<span className={styles.begin} aria-hidden>
						<PlayIcon size={32} />
					</span>
				)}
				{state === 'loaded' && (isWaiting || connection === 'reconnecting') && (
					<span className={styles.waiting}>
						<Spinner size={36} aria-label={messages.loading} />
					</span>
				)}
			</div>
			<div className={styles.controls}>
				<MediaControls media={video}>
					{subtitles.length > 0 && <SubtitleChoice video={video} labels={subtitles.map(({ label }) => label)} />}
					<Button
						variant="minimal"
						icon={isFull ? <MinimizeIcon /> : <FullscreenIcon />}
						aria-label={messages.fullscreen}
						aria-pressed={isFull}
						onClick={toggle}
					/>
				</MediaControls>
			</div>
		</div>
	);
}

interface SubtitleChoiceProps {
	video: RefObject<HTMLVideoElement | null>;
	/** The labels of the tracks, in their order; the first one is shown to begin with. */
	labels: readonly string[];
}

function SubtitleChoice({ video, labels }: SubtitleChoiceProps) {
	const [chosen, setChosen] = useState(0);
	function choose(index: number) {
		setChosen(index);
		for (const [at, track] of [...(video.current?.textTracks ?? [])].entries()) {
			track.mode = at === index ? 'showing' : 'disabled';
		}
	}
	return (
		<HTMLSelect
			minimal
			aria-label={messages.subtitles}
			value={chosen}
			options={[
				{ value: -1, label: messages.noSubtitles },
				...labels.map((label, value) => ({ value, label: label === '' ? messages.subtitles : label })),
			]}
			onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
		/>
	);
}

/**
 * Calls `onLeave` with the element when the viewer closes or the page is left, also in the middle of a seek, whose
 * target is the element's time already.
 */
function useOnLeave(element: RefObject<HTMLVideoElement | null>, onLeave: (target: HTMLVideoElement) => void): void {
	const latest = useLatest(onLeave);
	useLayoutEffect(() => {
		// The reference is empty by the time of the clean-up.
		const { current } = element;
		const leave = () => current && latest.current(current);
		window.addEventListener('pagehide', leave);
		return () => {
			window.removeEventListener('pagehide', leave);
			leave();
		};
	}, [element]);
}

/** Whether there was no activity for a moment, while it is enabled. */
function useIdle(isEnabled: boolean): { isIdle: boolean; onActivity: () => void } {
	const [activities, setActivities] = useState(0);
	/** How many there were when the moment after the last one had passed. */
	const [idleAfter, setIdleAfter] = useState(-1);
	useEffect(() => {
		if (!isEnabled) return;
		const timer = setTimeout(() => setIdleAfter(activities), idleMs);
		return () => clearTimeout(timer);
	}, [isEnabled, activities]);
	return {
		isIdle: isEnabled && idleAfter === activities,
		onActivity: () => isEnabled && setActivities((count) => count + 1),
	};
}

/** A phone of Apple's has none but for the film itself. */
type ApplePlayer = HTMLVideoElement & { webkitEnterFullscreen?: () => void };

function useFullscreen(element: RefObject<HTMLElement | null>, video: RefObject<HTMLVideoElement | null>) {
	const [isFull, setFull] = useState(false);
	useEffect(() => {
		const listen = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === element.current);
		document.addEventListener('fullscreenchange', listen);
		return () => document.removeEventListener('fullscreenchange', listen);
	}, [element]);
	return {
		isFull,
		toggle(): boolean {
			const player: ApplePlayer | null = video.current;
			if (!element.current?.requestFullscreen && player?.webkitEnterFullscreen) {
				player.webkitEnterFullscreen();
				return true;
			}
			// A browser that does not let it leaves everything as it was.
			const change = document.fullscreenElement ? document.exitFullscreen() : element.current?.requestFullscreen();
			change?.catch(() => {});
			return true;
		},
	};
}

/** The subtitles beside the film, as addresses of this page. */
function useSubtitles(film: Entry, entries: readonly Entry[]): { url: string; label: string }[] {
	const source = useFileSource();
	const [tracks, setTracks] = useState<{ url: string; label: string }[]>([]);
	// The list is read again now and then while the film plays; its subtitles stay.
	const found = useRef(subtitlesOf(film, entries));
	useEffect(() => {
		const abort = new AbortController();
		const urls: string[] = [];
		loadSubtitles(found.current, (entry) => source.viewUrl(entry), detectEncoding, abort.signal).then(
			(loaded) => {
				if (abort.signal.aborted) return;
				const made = loaded.map(({ label, content }) => ({ label, url: URL.createObjectURL(content) }));
				urls.push(...made.map(({ url }) => url));
				setTracks(made);
			},
			() => {},
		);
		return () => {
			abort.abort();
			for (const url of urls) URL.revokeObjectURL(url);
		};
	}, [source]);
	return tracks;
}
