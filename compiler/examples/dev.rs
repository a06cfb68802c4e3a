use skill_compiler::*;
fn main(){
 let mut files=vec![];
 for a in std::env::args().skip(1){ files.push(SourceFile{name:a.clone(),bytes:std::fs::read(&a).unwrap()}); }
 let t=std::time::Instant::now();
 let c=compile(&files,&Limits::default());
 eprintln!("compile {:?}",t.elapsed());
 for d in &c.diagnostics{ let l=d.span.map(|s|format!("{}:{}",c.library.files[s.file as usize].name,c.library.line(s))).unwrap_or_default(); println!("{} {} {} | {} | {:?}",d.code,l,d.message,d.label,d.help);}
 if let Some(a)=c.artifact{ println!("artifact {} bytes",a.len()); let p=skill_runtime::artifact::Pack::from_bytes(&a).unwrap();
  let o=testing::run(&c.library,&p); let mut f=0; for x in &o{ if !x.failures.is_empty(){f+=1; println!("FAIL {} {:?} {:?}: {:?}",x.at,x.after,x.message,x.failures);} } println!("{} tests {} failed",o.len(),f);}
}
