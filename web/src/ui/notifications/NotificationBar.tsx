import { Button, ProgressBar } from '@blueprintjs/core';
import { ErrorIcon, InfoSignIcon, SmallCrossIcon, TickCircleIcon, WarningSignIcon } from '@blueprintjs/icons';
import { useEffect, useState } from 'react';
import { messages } from '../../messages.js';
import styles from './NotificationBar.module.css';
import { autoHideMilliseconds, autoHides, type ShownNotice } from './notifications.js';

export interface NotificationBarProps {
	notices: readonly ShownNotice[];
	onDismiss: (key: string) => void;
}

export function NotificationBar({ notices, onDismiss }: NotificationBarProps) {
	return (
		// The live region is always there; one that comes together with its text is not read by every screen reader.
		<div className={styles.bar} aria-live="polite">
			{notices.map((notice) => (
				<NoticeLine key={notice.key} notice={notice} onDismiss={onDismiss} />
			))}
		</div>
	);
}

function NoticeLine({ notice, onDismiss }: { notice: ShownNotice; onDismiss: (key: string) => void }) {
	const { key, intent = 'none', message, detail, progress, onCancel, action } = notice;
	const [isHeld, setHeld] = useState(false);
	useEffect(() => {
		// Someone who points at it is still reading; under a pointer that only rests where the notice appears it goes.
		if (isHeld || !autoHides(notice)) return;
		const timer = setTimeout(() => onDismiss(notice.key), autoHideMilliseconds);
		return () => clearTimeout(timer);
	}, [notice, isHeld, onDismiss]);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: nothing is done with it, it only stays while someone reads it.
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
					<div className={styles.message}>{message}</div>
					{detail !== undefined && (
						// What is measured changes all the time: whoever listens asks the progress bar when they want to know.
						<div className={styles.detail} aria-hidden={progress !== undefined}>
							{detail}
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
				{!onCancel && autoHides(notice) && (
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
					aria-label={message}
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
