import { Button } from '@blueprintjs/core';
import { formatListSize, formatTime, isFailure, shownName } from '@stowage/rules';
import { useMutation } from '@tanstack/react-query';
import { useId, useRef } from 'react';
import { takeBack } from '../../api/sharePage.js';
import { typeIcon } from '../../ui/display/typeIcons.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { receivingMessages as messages } from './receivingMessages.js';
import styles from './SentList.module.css';
import { type SentFile, type SentFiles, takeBackMs, useTakeBackTime } from './sentFiles.js';

export interface SentListProps {
	token: string;
	sent: SentFiles;
	/** One was taken back. */
	onTakenBack: () => void;
}

/** What this browser has sent, of which it takes back what it has sent within an hour. Renders nothing while that is nothing. */
export function SentList({ token, sent, onTakenBack }: SentListProps) {
	const { files, remove } = sent;
	const titleId = useId();
	const list = useRef<HTMLUListElement>(null);
	const title = useRef<HTMLHeadingElement>(null);
	const { notify } = useNotify();
	const now = useTakeBackTime(files);
	const take = useMutation({
		mutationFn: ({ id }: SentFile) => takeBack(token, id),
		onSuccess: (_, file) => {
			notify({ intent: 'success', message: messages.takenBack(file.name) });
			forget(file);
			onTakenBack();
		},
		onError: (error, file) => {
			notify({ intent: 'danger', message: messages.takeBackFailed(file.name), detail: error.message });
			if (isFailure(error, 'notFound')) forget(file);
		},
	});
	const forget = ({ id }: SentFile) => {
		// Before the button that has it is removed, or it would be lost.
		const buttons = [...(list.current?.querySelectorAll<HTMLElement>('[data-take]') ?? [])];
		const index = buttons.findIndex((button) => button.dataset.take === id);
		const hasFocus = buttons[index] === document.activeElement;
		if (hasFocus) (buttons[index + 1] ?? buttons[index - 1] ?? title.current)?.focus();
		remove(id);
	};
	if (files.length === 0) return null;
	const isAnyFresh = files.some(({ at }) => at + takeBackMs > now);
	return (
		<section className={styles.sent} aria-labelledby={titleId}>
			<h2 ref={title} className={styles.title} id={titleId} tabIndex={-1}>
				{messages.sent}
			</h2>
			{isAnyFresh && <p className={styles.hint}>{messages.takeBackHint}</p>}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long one scrolls by the keyboard */}
			<ul ref={list} className={styles.list} tabIndex={0} aria-labelledby={titleId}>
				{files.map((file) => {
					const { Icon, hue } = typeIcon({ name: file.name, type: 'file' });
					const isTaken = take.isPending && take.variables.id === file.id;
					return (
						<li key={file.id} className={styles.file}>
							<span className={styles.icon} data-hue={hue}>
								<Icon size={16} aria-hidden />
							</span>
							<span className={styles.text}>
								<span className={styles.name}>{shownName(file.name)}</span>
								<span className={styles.facts}>
									{formatListSize(file.size)} · {formatTime(file.at)}
								</span>
							</span>
							{file.at + takeBackMs > now && (
								<Button
									variant="minimal"
									text={messages.takeBack}
									aria-label={messages.takeBackFile(shownName(file.name))}
									data-take={file.id}
									aria-disabled={isTaken}
									onClick={() => !take.isPending && take.mutate(file)}
								/>
							)}
						</li>
					);
				})}
			</ul>
		</section>
	);
}
