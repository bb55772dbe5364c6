import { Button, Spinner } from '@blueprintjs/core';
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef } from 'react';
import { isActive, jobsQuery } from '../../api/jobs/jobs.js';
import { focusAccount } from '../../ui/header/AppHeader.js';
import styles from './ActivityButton.module.css';
import { overallFraction } from './jobText.js';
import { activityMessages as messages } from './messages.js';

export interface ActivityButtonProps {
	username: string;
	onClick: () => void;
}

/** Counts the user's waiting and running jobs and shows their progress. Renders nothing while there are none. */
export function ActivityButton({ username, onClick }: ActivityButtonProps) {
	const { data: jobs = [] } = useQuery(jobsQuery(username));
	const count = jobs.filter(isActive).length;
	return count > 0 && <RunningButton count={count} fraction={overallFraction(jobs)} onClick={onClick} />;
}

interface RunningButtonProps extends Pick<ActivityButtonProps, 'onClick'> {
	count: number;
	fraction: number;
}

function RunningButton({ count, fraction, onClick }: RunningButtonProps) {
	const button = useRef<HTMLButtonElement>(null);
	useLayoutEffect(() => {
		const element = button.current;
		return () => {
			// It is removed with the last job, and the focus would be lost.
			if (document.activeElement === element) queueMicrotask(focusAccount);
		};
	}, []);
	return (
		<Button
			ref={button}
			variant="minimal"
			className={styles.button}
			icon={<Spinner size={18} value={fraction} intent="primary" />}
			text={count}
			aria-label={messages.running(count)}
			title={messages.activity}
			onClick={onClick}
		/>
	);
}
