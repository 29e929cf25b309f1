//! The command that counts in a shell's `-c` string.
//!
//! It holds just enough of the shell's grammar to find it: quotes, separators, leading words. It
//! refuses to expand anything.

/// Shell commands that only prepare for the one that counts.
const PREPARING: &[&str] = &[
    "cd", "source", ".", "export", "set", "unset", "ulimit", "module", "umask", "mkdir", "rm", "cp", "echo", "printf", "trap", "sleep", "eval",
    "wait", "shopt", "true", ":", "for", "while", "until", "if", "case", "test", "[", "[[", "done", "fi", "local", "read", "date", "hostname",
];
/// Shell words that a command may follow.
const LEADING: &[&str] = &["exec", "do", "then", "else", "time", "!", "command", "("];

/// Whether a word sets a variable, as before a command: `CUDA_VISIBLE_DEVICES=0`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The command that counts in a shell's `-c` string: the first that does not only prepare.
pub(super) fn command(code: &str) -> Option<Vec<String>> {
    let counts = |words: Vec<String>| {
        let leads = |word: &String| is_assignment(word) || LEADING.contains(&word.as_str());
        let words: Vec<String> = words.into_iter().skip_while(leads).collect();
        let first = words.first()?.as_str();
        let prepares = PREPARING.contains(&first) || words.get(1).is_some_and(|verb| verb == "activate");
        (!prepares).then_some(words)
    };
    commands(code).into_iter().find_map(counts)
}

/// A shell string in simple commands, and these in words; quotes are honoured, nothing is expanded.
fn commands(code: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut command = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut last = ' ';
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        let redirects = c == '&' && (last == '>' || last == '<' || chars.peek() == Some(&'>'));
        let ends_command = matches!(c, ';' | '\n' | '|' | '&') && !redirects;
        match c {
            _ if quote == Some(c) => quote = None,
            '\\' if quote != Some('\'') => match chars.next() {
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            _ if quote.is_some() => word.get_or_insert_default().push(c),
            '\'' | '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if ends_command => {
                command.extend(word.take());
                commands.push(std::mem::take(&mut command));
            }
            _ if c.is_whitespace() => command.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
        last = c;
    }
    command.extend(word);
    commands.push(command);
    commands
}
