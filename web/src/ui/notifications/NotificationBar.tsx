import { Button, ProgressBar } from '@blueprintjs/core';
import { ErrorIcon, InfoSignIcon, SmallCrossIcon, TickCircleIcon, WarningSignIcon } from '@blueprintjs/icons';
import { shownName } from '@stowage/rules';
import { useEffect, useRef, useState } from 'react';
import { messages } from '../../messages.js';
import styles from './NotificationBar.module.css';
import { autoHideMilliseconds, autoHides, type ShownNotice } from './notifications.js';

export interface NotificationBarProps {
	notices: readonly ShownNotice[];
	onDismiss: (key: string) => void;
	/** Called with how much of the window's lower edge is covered while there is a notice that stays, in CSS pixels. */
	onCovered: (height: number) => void;
}

export function NotificationBar({ notices, onDismiss, onCovered }: NotificationBarProps) {
	const bar = useRef<HTMLDivElement>(null);
	const hasLasting = notices.some((notice) => !autoHides(notice));
	useEffect(() => {
		const element = bar.current;
		if (!element || !hasLasting) return onCovered(0);
		const observer = new ResizeObserver(() => {
			onCovered(Math.ceil(window.innerHeight - element.getBoundingClientRect().top));
		});
		observer.observe(element);
		return () => observer.disconnect();
	}, [hasLasting, onCovered]);
	return (
		// The live region is always there: some screen readers ignore one that appears together with its text.
		<div ref={bar} className={styles.bar} aria-live="polite">
			{notices.map((notice) => (
				<NoticeLine key={notice.key} notice={notice} onDismiss={onDismiss} />
			))}
		</div>
	);
}

function NoticeLine({ notice, onDismiss }: { notice: ShownNotice; onDismiss: (key: string) => void }) {
	const { key, intent = 'none', message, detail, progress, isDetailToCopy, onCancel, action } = notice;
	const [isHeld, setHeld] = useState(false);
	const shownDetail = useRef<HTMLDivElement>(null);
	useEffect(() => {
		// Also of a notice that takes the place of another one.
		if (notice.isDetailToCopy && shownDetail.current) window.getSelection()?.selectAllChildren(shownDetail.current);
	}, [notice]);
	useEffect(() => {
		// A notice stays while the pointer moves over it, but not under a pointer that only rests where it appeared.
		if (isHeld || !autoHides(notice)) return;
		const timer = setTimeout(() => onDismiss(notice.key), notice.hidesAfter ?? autoHideMilliseconds);
		return () => clearTimeout(timer);
	}, [notice, isHeld, onDismiss]);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: it is no control, it only stays while it is pointed at
		<div
			className={styles.notice}
			data-intent={intent}
			role={intent === 'danger' ? 'alert' : 'status'}
			onPointerMove={() => setHeld(true)}
			onPointerLeave={() => setHeld(false)}
			onFocus={() => setHeld(true)}
			onBlur={() => setHeld(false)}
		>
			<div className={styles.line}>
				<span className={styles.icon}>{icons[intent]}</span>
				<div className={styles.text}>
					<div className={styles.message}>{shownName(message)}</div>
					{detail !== undefined && (
						// With progress it changes all the time, and would be announced each time. Screen readers have the progress bar.
						<div
							ref={shownDetail}
							className={`${styles.detail} ${isDetailToCopy ? styles.toCopy : ''}`}
							aria-hidden={progress !== undefined}
						>
							{shownName(detail)}
						</div>
					)}
				</div>
				{typeof progress === 'number' && (
					<span className={styles.percent} aria-hidden="true">
						{Math.floor(progress * 100)}%
					</span>
				)}
				{action && <Button variant="minimal" text={action.text} onClick={action.onClick} />}
				{onCancel && <Button variant="minimal" text={messages.cancel} onClick={onCancel} />}
				{!onCancel && (autoHides(notice) || isDetailToCopy) && (
					<Button
						variant="minimal"
						icon={<SmallCrossIcon />}
						aria-label={messages.close}
						onClick={() => onDismiss(key)}
					/>
				)}
			</div>
			{progress !== undefined && (
				<ProgressBar
					className={styles.progress}
					aria-label={shownName(message)}
					value={progress === 'indeterminate' ? undefined : progress}
					intent="primary"
					stripes={progress === 'indeterminate'}
				/>
			)}
		</div>
	);
}

const icons = {
	none: <InfoSignIcon />,
	success: <TickCircleIcon />,
	warning: <WarningSignIcon />,
	danger: <ErrorIcon />,
};
