//! Prints the text that dom_smoothie reads of a page; `compare.py` builds it.

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let page = String::from_utf8_lossy(&std::fs::read(path).expect("it can be read")).into_owned();
    let mut reader = dom_smoothie::Readability::new(page, None, None).expect("it can be taken apart");
    if let Ok(article) = reader.parse() {
        println!("{}", article.text_content);
    }
}
