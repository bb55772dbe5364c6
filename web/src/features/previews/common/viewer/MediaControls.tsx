import { Button, HTMLSelect } from '@blueprintjs/core';
import { PauseIcon, PlayIcon, VolumeOffIcon, VolumeUpIcon } from '@blueprintjs/icons';
import { type CSSProperties, type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect } from 'react';
import { previewMessages as messages } from '../../messages.js';
import { keepPlayback } from './keptPlayback.js';
import styles from './MediaControls.module.css';
import { formatClock, seekBy, togglePlay, useMediaState } from './mediaState.js';

/** How far an arrow key goes, in seconds. */
export const keyStep = 5;

const rates = [0.5, 0.75, 1, 1.25, 1.5, 2];

export interface MediaControlsProps {
	media: RefObject<HTMLMediaElement | null>;
	/** Further controls, shown at the end. */
	children?: ReactNode;
}

/**
 * Play, position, volume and speed. The browsers' own controls look different in each, and capture all keys once one
 * of them was clicked.
 */
export function MediaControls({ media, children }: MediaControlsProps) {
	const { isPlaying, time, duration, volume, isMuted, rate } = useMediaState(media);
	// Before a song that begins by itself is heard.
	useLayoutEffect(() => (media.current ? keepPlayback(media.current) : undefined), [media]);
	const isSilent = isMuted || volume === 0;

	function onPlaceKey(event: KeyboardEvent) {
		if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
		event.preventDefault();
		seekBy(media.current, event.key === 'ArrowLeft' ? -keyStep : keyStep);
	}

	function set(change: (media: HTMLMediaElement) => void) {
		if (media.current) change(media.current);
	}

	return (
		<div className={styles.controls} role="toolbar" aria-label={messages.mediaControls}>
			<input
				type="range"
				className={`${styles.range} ${styles.place}`}
				style={filled(duration === undefined ? 0 : time / duration)}
				aria-label={messages.position}
				aria-valuetext={messages.positionOf(formatClock(time), formatClock(duration ?? 0))}
				min={0}
				max={duration ?? 1}
				step="any"
				value={duration === undefined ? 0 : Math.min(time, duration)}
				disabled={duration === undefined}
				onKeyDown={onPlaceKey}
				onChange={({ currentTarget: { value } }) =>
					set((target) => {
						target.currentTime = Number(value);
					})
				}
			/>
			<div className={styles.line}>
				<Button
					variant="minimal"
					icon={isPlaying ? <PauseIcon size={20} /> : <PlayIcon size={20} />}
					aria-label={isPlaying ? messages.pause : messages.play}
					onClick={() => togglePlay(media.current)}
				/>
				<span className={styles.clock}>
					{formatClock(time)} / {formatClock(duration ?? 0)}
				</span>
				<span className={styles.spacer} />
				<Button
					variant="minimal"
					icon={isSilent ? <VolumeOffIcon /> : <VolumeUpIcon />}
					aria-label={messages.mute}
					aria-pressed={isSilent}
					onClick={() =>
						set((target) => {
							target.muted = !isSilent;
							if (isSilent && target.volume === 0) target.volume = 1;
						})
					}
				/>
				<input
					type="range"
					className={`${styles.range} ${styles.volume}`}
					style={filled(isMuted ? 0 : volume)}
					aria-label={messages.volume}
					min={0}
					max={1}
					step={0.05}
					value={isMuted ? 0 : volume}
					onChange={({ currentTarget: { value } }) =>
						set((target) => {
							target.volume = Number(value);
							target.muted = false;
						})
					}
				/>
				<HTMLSelect
					minimal
					aria-label={messages.speed}
					value={rate}
					options={rates.map((value) => ({ value, label: `${value}×` }))}
					onChange={({ currentTarget: { value } }) =>
						set((target) => {
							target.playbackRate = Number(value);
						})
					}
				/>
				{children}
			</div>
		</div>
	);
}

const filled = (share: number) => ({ '--filled': `${(share * 100).toFixed(2)}%` }) as CSSProperties;
